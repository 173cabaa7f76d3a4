// Asks items and remembers: each attempt goes to the record as it ends, transient faults are asked
// again, and an item whose final reply is on record is not asked again. A procedure that asks
// through a session can therefore be stopped at any moment and run again from its beginning: it
// gets the same replies and goes on where it stopped.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "gyre/accept/item.h"
#include "gyre/accept/record.h"
#include "gyre/accept/subject.h"

namespace gyre::accept {

struct SessionOptions {
  int64_t concurrency = 1;     // requests in flight at most
  int64_t attempts = 3;        // of one item with transient faults, in each run
  double longest_wait_s = 60;  // a Retry-After above it is not waited for: the fault is final
  double first_wait_s = 0.5;   // before the second attempt; doubles, times 0.5 to 1.5 by chance
  uint64_t seed = 1;           // of that chance
};

/// Attempts that a fault is worth. A prompt that timed out costs the server all its work again, so
/// it is not asked twice; what the server broke off is asked once more.
int64_t attempts_for(Fault fault, const SessionOptions& options);

class Session {
 public:
  /// Borrows subject and record. on_sample sees each new sample (progress), under a lock.
  Session(Subject& subject, Record& record, const SessionOptions& options,
          std::function<void(const Sample&)> on_sample = {});

  /// One item, alone. Like the others, throws Interrupted after Ctrl-C: what was answered is kept.
  Sample ask(Item item);
  /// Several items, options.concurrency at a time; samples in the order of the items.
  std::vector<Sample> ask_all(std::vector<Item> items);
  /// All at the same moment, for tests of concurrency: recorded replies count only when every item
  /// of the group has one that was given together. Faults are not asked again.
  std::vector<Sample> ask_together(std::vector<Item> items);

  Subject& subject() { return subject_; }
  int64_t requests() const;  // attempts sent by this process
  bool replayed() const;     // nothing was sent yet: all came from the record
  bool answered() const;     // some item got an answer, now or on record

 private:
  Sample ask_one(Item item);
  Sample ask_fresh(const Item& item);
  Sample attempt(const Item& item, int64_t in_flight);
  std::optional<Sample> recorded(const Item& item);
  void note(const Sample& sample);
  double wait_after(const Sample& sample, int64_t tries, double waited_s) const;
  void keep(const Sample& sample, bool ended);

  Subject& subject_;
  Record& record_;
  SessionOptions options_;
  std::function<void(const Sample&)> on_sample_;
  mutable std::mutex lock_;
  int64_t requests_ = 0, in_flight_ = 0;
  bool answered_ = false;
  std::map<std::string, Sample> given_up_;  // by sid: not asked again by this run
};

}  // namespace gyre::accept

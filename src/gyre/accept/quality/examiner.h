// Asks the items of levels 2 and 3 through the session: the frame of their prompts, the budget of
// their answers, and the reasons for which a length is not asked at all.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "gyre/accept/acceptance.h"
#include "gyre/accept/quality/spec.h"

namespace gyre::accept {

/// What is kept of a sample: prompts are large, so they are let go as soon as they are judged.
struct Judged {
  Slot slot;
  std::string sid;
  Verdict verdict = Verdict::Error;
  std::string found;
  std::vector<std::string> codes;            // that were read out of the answer
  std::map<std::string, std::string> dials;  // of the item
  std::vector<std::string> gold;
  std::string fault;  // "connect: connection refused"

  bool ok() const { return verdict == Verdict::Ok; }
};

/// Tokens that an answer may need, tried in turn until answers are not cut; thinking models need
/// thousands.
inline constexpr int64_t kBudgets[] = {64, 256, 4096, 16384};

class Examiner {
 public:
  explicit Examiner(Bench& bench);

  Bench& bench() { return bench_; }
  /// Prompts of `length` tokens with room for the answer; a budget above a quarter of them stands
  /// beside them where the window has room for both.
  Frame frame(int64_t length) const;
  /// Why level 1 forbids this length; "" = it does not.
  std::string forbidden(int64_t length) const;
  /// Asks one item at this length and raises the budget while its answer is cut. Returns why the
  /// length cannot be asked, "" = it can.
  std::string probe(const Spec& spec, int64_t length, Arm arm);
  /// The next larger budget; false when there is none or the user gave one.
  bool raise_budget();
  int64_t budget() const { return budget_; }

  /// An item of the spec; the cell that it belongs to and the bucket are noted in its dials.
  Item item(const Spec& spec, const Slot& slot, Arm arm, int64_t length) const;
  Item labelled(const Spec& spec, const Slot& slot, int64_t length, Item item) const;
  /// All in one batch.
  std::vector<Judged> ask(const Spec& spec, int64_t length, Arm arm,
                          const std::vector<Slot>& slots);
  std::vector<Judged> ask(std::vector<Item> items, const std::vector<Slot>& slots);
  /// Set when a whole batch failed: the server is gone, nothing more is asked.
  const std::string& gone() const { return gone_; }

 private:
  Bench& bench_;
  Api api_ = Api::Chat;
  int64_t budget_ = 0;
  bool in_vain_ = false;  // a large budget did not end the words of an answer
  std::string gone_;

  void calibrate();
  Sample ask_one(Item item);
  std::vector<Sample> ask_all(std::vector<Item> items);
};

/// Every bucket, indices first ... last - 1.
std::vector<Slot> slots(int64_t first, int64_t last);

}  // namespace gyre::accept

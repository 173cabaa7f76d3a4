#include "gyre/accept/replay.h"

#include <deque>
#include <map>
#include <mutex>

#include "gyre/accept/acceptance.h"
#include "gyre/accept/item.h"
#include "gyre/base/files.h"

namespace gyre::accept {
namespace {

/// Ends a replay early: the item was met, or the record has no reply to what is asked.
struct End {};

/// Equal for equal requests; prompts by their hash, because the record keeps no more of them.
std::string key_of(const Ask& ask, const std::string& prompt_sha) {
  std::string key = str(prompt_sha, " ", name_of(ask.api), " ", ask.max_tokens, " ",
                        ask.top_logprobs, " ", ask.echo ? 1 : 0);
  for (const std::string& candidate : ask.candidates) {
    key += str(" ", candidate.size(), ":", candidate);
  }
  return key;
}

/// Answers from the record: equal requests get their replies in the order in which they came.
class Replayed final : public Subject {
 public:
  Replayed(const Record& record, const KnownFacts& known) : known_(known) {
    for (const Sample& sample : record.samples()) {
      replies_[key_of(sample.item.ask, sample.prompt_sha)].push_back(sample.reply);
      apis_[static_cast<size_t>(sample.item.ask.api)] = true;
    }
  }

  std::string name() const override { return known_.subject; }
  Facts discover() override { return known_.facts; }
  bool concurrent() const override { return true; }
  bool can(Api api) const override { return apis_[static_cast<size_t>(api)]; }
  std::optional<int64_t> count_tokens(const std::string&) override { return std::nullopt; }

  Reply ask(const Ask& ask) override {
    const std::scoped_lock hold(lock_);
    const auto found = replies_.find(key_of(ask, sha256(prompt_text(ask))));
    if (found == replies_.end()) {
      throw End{};
    }
    const Reply reply = found->second.front();
    if (found->second.size() > 1) {
      found->second.pop_front();
    }
    return reply;
  }

 private:
  const KnownFacts& known_;
  std::mutex lock_;
  std::map<std::string, std::deque<Reply>> replies_;
  bool apis_[2] = {false, false};
};

}  // namespace

std::optional<Item> rebuild(const Record& record, const KnownFacts& known,
                            const AcceptOptions& options, const std::string& sid) {
  Replayed subject(record, known);
  Record memory;
  SessionOptions once;  // no waits: a recorded fault is answered as it was
  once.attempts = 1;
  once.longest_wait_s = 0;
  std::optional<Item> met;
  Session session(subject, memory, once, [&](const Sample& sample) {
    if (sample.item.sid == sid) {
      met = sample.item;
      throw End{};
    }
  });
  try {
    (void)accept(session, memory, options);
  } catch (const End&) {
  }
  return met;
}

}  // namespace gyre::accept

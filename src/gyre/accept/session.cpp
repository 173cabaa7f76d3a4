#include "gyre/accept/session.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <latch>
#include <thread>
#include <utility>

#include "gyre/accept/scoring.h"
#include "gyre/base/progress.h"
#include "gyre/base/rng.h"

namespace gyre::accept {

namespace {

void stop_when_interrupted() {
  if (interrupted()) {
    throw Interrupted(Code::CheckFailed,
                      "accept: interrupted; what was answered is kept, the same command goes on");
  }
}

void pause(double seconds) {
  using Clock = std::chrono::steady_clock;
  const auto until = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                        std::chrono::duration<double>(seconds));
  while (Clock::now() < until) {
    stop_when_interrupted();
    std::this_thread::sleep_for(
        std::min<Clock::duration>(until - Clock::now(), std::chrono::milliseconds(50)));
  }
}

/// Runs work(0) ... work(n - 1) on n threads; the first exception of them is thrown here.
template <class Work>
void on_threads(size_t n, const Work& work) {
  std::mutex lock;
  std::exception_ptr first;
  std::vector<std::thread> threads;
  threads.reserve(n);
  for (size_t i = 0; i < n; ++i) {
    threads.emplace_back([&, i] {
      try {
        work(i);
      } catch (...) {
        const std::lock_guard guard(lock);
        first = first ? first : std::current_exception();
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  if (first) {
    std::rethrow_exception(first);
  }
}

}  // namespace

int64_t attempts_for(Fault fault, const SessionOptions& options) {
  switch (fault) {
    case Fault::None:
    case Fault::FirstByte:
    case Fault::Deadline:
    case Fault::TooMuch:
      return 1;
    case Fault::Idle:
    case Fault::NoEnd:
    case Fault::Format:
      return std::min<int64_t>(2, options.attempts);
    default:
      return is_final(fault) ? 1 : options.attempts;
  }
}

Session::Session(Subject& subject, Record& record, const SessionOptions& options,
                 std::function<void(const Sample&)> on_sample)
    : subject_(subject), record_(record), options_(options), on_sample_(std::move(on_sample)) {}

int64_t Session::requests() const {
  const std::lock_guard guard(lock_);
  return requests_;
}

bool Session::replayed() const {
  return requests() == 0;
}

bool Session::answered() const {
  const std::lock_guard guard(lock_);
  return answered_;
}

void Session::note(const Sample& sample) {
  const std::lock_guard guard(lock_);
  answered_ = answered_ || sample.reply.answered();
}

std::optional<Sample> Session::recorded(const Item& item) {
  std::optional<Sample> found = record_.find(item.sid);
  if (!found) {
    const std::lock_guard guard(lock_);
    const auto at = given_up_.find(item.sid);
    found = at == given_up_.end() ? found : std::optional<Sample>(at->second);
  }
  if (found) {
    found->item = item;  // the record keeps no prompts
    note(*found);
  }
  return found;
}

Sample Session::attempt(const Item& item, int64_t in_flight) {
  stop_when_interrupted();
  Sample sample;
  sample.item = item;
  sample.attempt = record_.attempts(item.sid) + 1;
  {
    const std::lock_guard guard(lock_);
    ++requests_;
    ++in_flight_;
    sample.in_flight = in_flight > 0 ? in_flight : in_flight_;
  }
  try {
    sample.reply = subject_.ask(item.ask);
  } catch (...) {
    const std::lock_guard guard(lock_);
    --in_flight_;
    throw;
  }
  {
    const std::lock_guard guard(lock_);
    --in_flight_;
  }
  const Judgement judgement = judge(item, sample.reply);
  sample.verdict = judgement.verdict;
  sample.found = judgement.found;
  return sample;
}

void Session::keep(const Sample& sample, bool ended) {
  const bool given_up = ended && may_pass(sample.reply.fault);
  record_.add(sample, !ended ? Ending::Again : given_up ? Ending::GivenUp : Ending::Final);
  note(sample);
  const std::lock_guard guard(lock_);
  if (given_up) {
    given_up_.insert_or_assign(sample.item.sid, sample);
  }
  if (ended && on_sample_) {
    on_sample_(sample);
  }
}

/// Seconds until the next attempt; below 0: there is none. Who is told to come back later may do so
/// for longest_wait_s in all, however often that is.
double Session::wait_after(const Sample& sample, int64_t tries, double waited_s) const {
  const Reply& reply = sample.reply;
  const bool busy = reply.fault == Fault::Busy;
  if (reply.answered() || (!busy && tries >= attempts_for(reply.fault, options_))) {
    return -1;
  }
  Rng rng(options_.seed, "wait " + sample.item.sid, static_cast<uint64_t>(sample.attempt));
  constexpr int64_t kMostDoublings = 20;
  const auto doublings = static_cast<double>(1LL << std::min(tries - 1, kMostDoublings));
  double wait = options_.first_wait_s * doublings * (0.5 + rng.uniform());
  if (reply.retry_after_s >= 0) {
    // Not all at the same moment, and not before it.
    wait = reply.retry_after_s + 0.1 * options_.first_wait_s * rng.uniform();
  }
  if (reply.retry_after_s > options_.longest_wait_s ||
      (busy && waited_s + wait > options_.longest_wait_s)) {
    return -1;
  }
  return std::min(wait, options_.longest_wait_s);
}

Sample Session::ask_fresh(const Item& item) {
  double waited_s = 0;
  for (int64_t tries = 1;; ++tries) {
    Sample sample = attempt(item, 0);
    const double wait_s = wait_after(sample, tries, waited_s);
    keep(sample, wait_s < 0);
    if (wait_s < 0) {
      return sample;
    }
    pause(wait_s);
    waited_s += wait_s;
  }
}

Sample Session::ask_one(Item item) {
  item.sid = identity(item, subject_.name());
  if (std::optional<Sample> sample = recorded(item)) {
    return std::move(*sample);
  }
  return ask_fresh(item);
}

Sample Session::ask(Item item) {
  return ask_one(std::move(item));
}

std::vector<Sample> Session::ask_all(std::vector<Item> items) {
  std::vector<Sample> samples(items.size());
  const auto at_once =
      static_cast<size_t>(subject_.concurrent() ? std::max<int64_t>(1, options_.concurrency) : 1);
  std::atomic<size_t> next{0};
  std::atomic<bool> stopped{false};
  const auto work = [&](size_t) {
    for (size_t i = next++; i < items.size() && !stopped; i = next++) {
      try {
        samples[i] = ask_one(std::move(items[i]));
      } catch (...) {
        stopped = true;
        throw;
      }
    }
  };
  if (at_once == 1) {
    work(0);
  } else {
    on_threads(std::min(at_once, items.size()), work);
  }
  return samples;
}

std::vector<Sample> Session::ask_together(std::vector<Item> items) {
  const size_t n = items.size();
  const int64_t in_flight = subject_.concurrent() ? static_cast<int64_t>(n) : 1;
  std::vector<Sample> samples(n);
  bool all_recorded = true;
  for (size_t i = 0; i < n; ++i) {
    items[i].sid = identity(items[i], subject_.name());
    const std::optional<Sample> found = recorded(items[i]);
    all_recorded = all_recorded && found && found->in_flight == in_flight;
    samples[i] = found.value_or(Sample{});
  }
  if (all_recorded) {
    return samples;
  }
  if (in_flight == 1) {
    for (size_t i = 0; i < n; ++i) {
      samples[i] = attempt(items[i], in_flight);
    }
  } else {
    std::latch start(static_cast<std::ptrdiff_t>(n));
    on_threads(n, [&](size_t i) {
      start.arrive_and_wait();
      samples[i] = attempt(items[i], in_flight);
    });
  }
  // Only a whole group goes to the record, so that a run killed in the middle asks all again.
  for (const Sample& sample : samples) {
    keep(sample, true);
  }
  return samples;
}

}  // namespace gyre::accept

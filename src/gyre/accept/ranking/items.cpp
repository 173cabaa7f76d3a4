#include "gyre/accept/ranking/items.h"

#include <numeric>
#include <span>

#include "gyre/accept/quality/cells.h"
#include "gyre/accept/text/filler.h"
#include "gyre/study/statistics.h"

namespace gyre::accept {
namespace {

constexpr int64_t kAnswerTokens = 2;  // some tokenizers write the blank before a digit by itself
constexpr int64_t kRepeats = 2000;    // of a bootstrap
constexpr uint64_t kSeed = 7;

}  // namespace

Item ranked_item(const Slot& slot, Arm arm, const Frame& frame) {
  Ranked dials;
  dials.index = slot.index;
  dials.distractors = kRankedDistractors;
  dials.candidates = kCandidates;
  dials.fraction = place_in(slot.bucket, slot.index);
  dials.arm = arm;
  Item item = make_ranked(dials, frame);
  item.dials["bucket"] = str(slot.bucket);
  if (arm != Arm::Main) {
    item.form = AnswerForm::Probe;  // a control: what comes first in it is no failure
  }
  item.ask.max_tokens = kAnswerTokens;
  return item;
}

Frame ranked_frame(Examiner& examiner, int64_t length) {
  Frame frame = examiner.frame(length);
  frame.length = length;
  frame.max_tokens = kAnswerTokens;
  Bench& bench = examiner.bench();
  if (bench.options.api != "chat" && bench.serves(Api::Completions)) {
    frame.api = Api::Completions;
  }
  return frame;
}

std::string no_room(Examiner& examiner, int64_t length) {
  try {
    (void)ranked_item({}, Arm::Main, ranked_frame(examiner, length));
    return "";
  } catch (const NoRoom& none) {
    return kNoRoom + std::string(none.what());
  }
}

Mean mean_of(const std::vector<double>& values) {
  if (values.empty()) {
    return {};
  }
  const auto mean = [&](std::span<const int64_t> picked) {
    double sum = 0.0;
    for (const int64_t i : picked) {
      sum += values[static_cast<size_t>(i)];
    }
    return sum / static_cast<double>(picked.size());
  };
  const auto n = static_cast<int64_t>(values.size());
  std::vector<int64_t> all(values.size());
  std::iota(all.begin(), all.end(), 0);
  const study::Interval range =
      n > 1 ? study::bootstrap(n, mean, kRepeats, kSeed) : study::Interval{};
  return {n, mean(all), range.lo, range.hi};
}

}  // namespace gyre::accept

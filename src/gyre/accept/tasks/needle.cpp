// Level 2: one record among others like it. Every place at which the item with the most distractors
// has one is always there; with fewer distractors the rest hold filler of equal length, so items
// that differ in their number share needle, filler and all places.
#include <algorithm>
#include <cmath>

#include "gyre/accept/tasks/prompt.h"
#include "gyre/accept/text/codes.h"
#include "gyre/accept/text/records.h"
#include "gyre/base/error.h"

namespace gyre::accept {
namespace {

constexpr int64_t kMostDistractors = 31;
constexpr double kClear = 0.02;      // share of the text on each side of the needle without any
constexpr double kSentence = 130.0;  // bytes by which a place may move to the end of a sentence
constexpr int64_t kRecord = 120;     // bytes that a record takes, roughly

bool is_plain(const Needle& dials) {
  return dials.family == "plain";
}

std::string statement(const Needle& dials, const Key& key, const std::string& code) {
  return is_plain(dials) ? "The code for " + plain_name(key) + " is " + code + "."
                         : record(key, "code", code);
}

std::string question(const Needle& dials, const Key& key) {
  if (is_plain(dials)) {
    return "What is the code for " + plain_name(key) + "?";
  }
  return dials.paraphrase ? paraphrased_question(key) : record_question(key);
}

void check(const Needle& dials) {
  const bool known = is_plain(dials) || dials.family == "needle";
  if (!known || dials.distractors < 0 || dials.distractors > kMostDistractors ||
      dials.similarity < 0 || dials.similarity >= kSlots || (is_plain(dials) && dials.paraphrase)) {
    throw Error(Code::Internal, "needle: family ", dials.family, ", distractors ",
                dials.distractors, ", similarity ", dials.similarity,
                " must be needle or plain (which has no paraphrase), 0 to 31, 0 to 4");
  }
}

/// 0.5, 0.25, 0.75, 0.125, ...: any first few are spread evenly.
double spread(uint64_t i) {
  double value = 0.0, bit = 0.5;
  for (uint64_t n = i + 1; n > 0; n >>= 1, bit /= 2) {
    value += (n & 1) != 0 ? bit : 0.0;
  }
  return value;
}

/// Places of the distractors: every other one before the needle, none near it.
std::vector<double> places(const Needle& dials, int64_t haystack, int64_t n) {
  const double filler = double(std::max<int64_t>(1, haystack - (n + 1) * kRecord));
  const double clear = kClear + kSentence / std::max(kSentence, filler);
  const double left = dials.fraction - clear, right = 1 - dials.fraction - clear;
  const bool both = left > 0 && right > 0;
  std::vector<double> fractions;
  for (int64_t i = 0; i < n; ++i) {
    const bool before = both ? (i + dials.index) % 2 == 0 : left > right;
    const double at = spread(uint64_t(both ? i / 2 : i));
    fractions.push_back(before ? left * at : 1 - right * at);
  }
  return fractions;
}

struct Evidence {
  Key key{};
  std::string code, swapped;
};

/// Key, code and the code of its twin; with near values all codes are one symbol from the first.
Evidence draw_evidence(const Needle& dials, const Frame& frame, CodeSource& codes) {
  Evidence evidence;
  Rng rng(frame.seed, dials.family + "/key", uint64_t(dials.index));
  evidence.key = evidence_key(rng, is_plain(dials) ? Family::Plain : Family::Record);
  evidence.code = codes.next();
  evidence.swapped = dials.near_value ? codes.next_near(evidence.code) : codes.next();
  return evidence;
}

void add_distractors(Draft& draft, const Needle& dials, const Frame& frame,
                     const Evidence& evidence, CodeSource& codes) {
  const int64_t haystack = frame.haystack_bytes(400);
  const int64_t fit = std::clamp(most_distractors(frame), int64_t{0}, kMostDistractors);
  const int64_t n = dials.arm == Arm::Short ? dials.distractors : std::max(fit, dials.distractors);
  const auto fractions = places(dials, haystack, n);
  std::vector<Key> keys{evidence.key};
  double jaccard = 0.0;
  for (int64_t i = 0; i < n; ++i) {
    Rng rng(frame.seed, str(draft.salt, "/distractor/", dials.similarity), uint64_t(i));
    const auto draw = [&] {
      return similar_key(rng, evidence.key, dials.similarity,
                         is_plain(dials) ? Family::Plain : Family::Record);
    };
    Key key = draw();
    while (std::find(keys.begin(), keys.end(), key) != keys.end()) {
      key = draw();
    }
    keys.push_back(key);
    const std::string code = dials.near_value ? codes.next_near(evidence.code) : codes.next();
    std::string sentence = statement(dials, key, code);
    const bool used = i < dials.distractors;
    if (used) {
      draft.item.distractors.push_back(
          {code, equal_slots(key, evidence.key), fractions[size_t(i)]});
      jaccard += word_jaccard(draft.statements[0].sentence, sentence) / double(dials.distractors);
    } else {
      sentence = filler_sentence(rng, int64_t(sentence.size()));
    }
    draft.statements.push_back(
        {fractions[size_t(i)], sentence, used ? Role::Other : Role::Placeholder});
  }
  if (dials.distractors > 0) {
    draft.item.dials["jaccard"] = decimals(jaccard);
  }
}

std::map<std::string, std::string> text_dials(const Needle& dials) {
  return {{"family", dials.family},
          {"fraction", decimals(dials.fraction)},
          {"k", str(dials.distractors)},
          {"s", dials.distractors > 0 ? str(dials.similarity) : "-"},
          {"v", dials.near_value ? "near" : "far"},
          {"o", dials.paraphrase ? "none" : "full"},
          {"qpos", dials.question_first ? "start" : "end"}};
}

}  // namespace

int64_t most_distractors(const Frame& frame) {
  const int64_t room = frame.haystack_bytes(400) * 3 / 4 - kRecord;  // a quarter stays filler
  return std::clamp<int64_t>(room / kRecord, 0, kMostDistractors);
}

Item make_needle(const Needle& dials, const Frame& frame) {
  check(dials);
  Draft draft;
  draft.arm = dials.arm;
  draft.salt = str(dials.family, "/", dials.index);
  draft.filler = draft.salt;
  draft.item.level = 2;
  draft.item.task = dials.family;
  draft.item.index = dials.index;
  draft.item.dials = text_dials(dials);
  CodeSource codes(frame.seed, dials.family + "/codes", uint64_t(dials.index));
  const Evidence evidence = draw_evidence(dials, frame, codes);
  const std::string code = dials.arm == Arm::Swap ? evidence.swapped : evidence.code;
  draft.item.gold = {code};
  draft.statements = {{dials.fraction, statement(dials, evidence.key, code), Role::Evidence}};
  add_distractors(draft, dials, frame, evidence, codes);
  const std::string asked = question(dials, evidence.key) +
                            " Answer with the code alone, or NONE if the text does not say.";
  draft.item.dials["overlap"] =
      decimals(word_jaccard(question(dials, evidence.key), draft.statements[0].sentence));
  draft.head = dials.question_first ? asked : "";
  draft.question =
      dials.question_first ? "Answer the question that stands before this text." : asked;
  return finish(std::move(draft), frame);
}

}  // namespace gyre::accept

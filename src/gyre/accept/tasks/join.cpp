// Level 3: an answer out of m records. A code comes in m parts to be put together in the order of
// the question; digits are summed mod 10. As many records of the same kind under other keys stand
// by.
#include <algorithm>

#include "gyre/accept/tasks/prompt.h"
#include "gyre/accept/text/codes.h"
#include "gyre/accept/text/records.h"
#include "gyre/base/error.h"

namespace gyre::accept {
namespace {

constexpr const char* kJoinHow =
    " Put the parts together, with a dash after three symbols if there are more. "
    "Answer with the result alone, or NONE if the text does not say.";
constexpr const char* kSumHow = " Answer with the digit alone, or NONE if the text does not say.";

/// A code's six symbols in m parts: 3 3, 2 2 2, 2 2 1 1.
std::vector<std::string> split(const std::string& code, int64_t m) {
  const std::string symbols = code.substr(0, 3) + code.substr(4);
  std::vector<std::string> parts;
  for (int64_t i = 0, at = 0; i < m; ++i) {
    const int64_t n = 6 / m + (i < 6 % m ? 1 : 0);
    parts.push_back(symbols.substr(size_t(at), size_t(n)));
    at += n;
  }
  return parts;
}

std::vector<std::string> digits(Rng& rng, int64_t m) {
  std::vector<std::string> values;
  for (int64_t i = 0; i < m; ++i) {
    values.push_back(str(rng.below(10)));
  }
  return values;
}

std::string total(const std::vector<std::string>& values) {
  int64_t sum = 0;
  for (const auto& value : values) {
    sum += value[0] - '0';
  }
  return str(sum % 10);
}

std::string joined(const std::vector<std::string>& parts) {
  std::string symbols;
  for (const auto& part : parts) {
    symbols += part;
  }
  return symbols.size() > 3 ? symbols.substr(0, 3) + "-" + symbols.substr(3) : symbols;
}

/// The values of the asked records; in the swap arm one of them differs, another for each item.
std::vector<std::string> draw_values(const Join& dials, const Frame& frame) {
  CodeSource codes(frame.seed, str("join/codes/", dials.parts), uint64_t(dials.index));
  Rng rng(frame.seed, str("sum/digits/", dials.parts), uint64_t(dials.index));
  auto values = dials.sum ? digits(rng, dials.parts) : split(codes.next(), dials.parts);
  if (dials.arm == Arm::Swap) {
    const int64_t at = dials.only > 0 ? dials.only - 1 : dials.index % dials.parts;
    std::string& value = values[size_t(at)];
    const std::string before = value;
    while (value == before) {
      value = dials.sum ? str(rng.below(10)) : split(codes.next(), dials.parts)[size_t(at)];
    }
  }
  return values;
}

void check(const Join& dials) {
  if (dials.parts < 2 || dials.parts > 4 || std::ssize(dials.fractions) != dials.parts ||
      dials.only < 0 || dials.only > dials.parts) {
    throw Error(Code::Internal, "join: ", dials.parts,
                " parts must be 2 to 4 with a fraction each, ", "got ", dials.fractions.size(),
                " and only ", dials.only);
  }
}

std::string question(const Join& dials, const std::vector<Key>& keys) {
  std::string text = dials.sum
                         ? "What is the last digit of the sum of the digits carried by these: "
                         : "Which code do these parts give in this order: ";
  for (int64_t i = 0; i < dials.parts; ++i) {
    if (dials.only == 0 || dials.only == i + 1) {
      text += (text.ends_with(": ") ? "" : "; ") + key_text(keys[size_t(i)]);
    }
  }
  return text + "?" + (dials.sum ? kSumHow : kJoinHow);
}

/// As many records again that nobody asks for, each similar to one that is asked for.
void add_decoys(Draft& draft, const Join& dials, const Frame& frame, const std::vector<Key>& keys) {
  Rng rng(frame.seed, draft.salt + "/decoys");
  CodeSource codes(frame.seed, draft.salt + "/decoys", 0);
  const auto values = dials.sum ? digits(rng, dials.parts) : split(codes.next(), dials.parts);
  std::vector<Key> taken = keys;
  for (int64_t i = 0; i < dials.parts; ++i) {
    Key key = similar_key(rng, keys[size_t(i)], 2);
    while (std::find(taken.begin(), taken.end(), key) != taken.end()) {
      key = similar_key(rng, keys[size_t(i)], 2);
    }
    taken.push_back(key);
    const char* kind = dials.sum ? "digit" : "part";
    draft.statements.push_back({rng.uniform(), record(key, kind, values[size_t(i)]), Role::Other});
  }
}

void set_gold(Item& item, const Join& dials, const std::vector<std::string>& values) {
  if (dials.only > 0) {
    item.gold = {values[size_t(dials.only - 1)]};
    item.form = dials.sum ? AnswerForm::Digit : AnswerForm::Word;
    return;
  }
  item.gold = {dials.sum ? total(values) : joined(values)};
  item.form = dials.sum ? AnswerForm::Digit : AnswerForm::Codes;
}

}  // namespace

Item make_join(const Join& dials, const Frame& frame) {
  check(dials);
  Draft draft;
  draft.arm = dials.arm;
  draft.item.level = 3;
  draft.item.task = dials.sum ? "sum" : "join";
  draft.item.index = dials.index;
  draft.salt = str(draft.item.task, "/", dials.parts, "/", dials.index);
  draft.filler = draft.salt;
  Rng rng(frame.seed, draft.salt + "/keys");
  std::vector<Key> keys;
  while (std::ssize(keys) < dials.parts) {
    const Key key = evidence_key(rng);
    if (std::find(keys.begin(), keys.end(), key) == keys.end()) {
      keys.push_back(key);
    }
  }
  const auto values = draw_values(dials, frame);
  for (size_t i = 0; i < values.size(); ++i) {
    draft.statements.push_back({dials.fractions[i],
                                record(keys[i], dials.sum ? "digit" : "part", values[i]),
                                Role::Evidence});
  }
  add_decoys(draft, dials, frame, keys);
  set_gold(draft.item, dials, values);
  draft.question = question(dials, keys);
  const auto [least, most] = std::minmax_element(dials.fractions.begin(), dials.fractions.end());
  draft.item.dials = {{"m", str(dials.parts)},
                      {"only", str(dials.only)},
                      {"min", decimals(*least)},
                      {"max", decimals(*most)},
                      {"spread", decimals(*most - *least)}};
  return finish(std::move(draft), frame);
}

}  // namespace gyre::accept

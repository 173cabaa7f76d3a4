// Layout of a prompt: "Document 7K3Q-XM2R-5.", the head, the haystack, the question; lines between.
#include "gyre/accept/tasks/prompt.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>

#include "gyre/accept/text/filler.h"
#include "gyre/base/error.h"

namespace gyre::accept {
namespace {

int64_t bytes_of(const Item& item) {
  int64_t n = 0;
  for (const auto& message : item.ask.messages) {
    n += int64_t(message.content.size());
  }
  return n;
}

/// The no-evidence arm: filler of equal length in place of each evidence; the gold is withheld.
void withhold(Draft& draft, const Frame& frame) {
  uint64_t i = 0;
  for (auto& statement : draft.statements) {
    if (statement.role == Role::Evidence) {
      Rng rng(frame.seed, draft.filler + "/withheld", i++);
      statement.sentence = filler_sentence(rng, int64_t(statement.sentence.size()));
      statement.role = Role::Placeholder;
    }
  }
}

void drop_gold(Item& item) {
  std::string all;
  for (const auto& code : item.gold) {
    all += (all.empty() ? "" : " ") + code;
  }
  item.dials["withheld"] = all;
  item.gold.clear();
}

/// The short arm: evidence and distractors in their order, nothing else.
Haystack without_filler(const std::vector<Statement>& statements) {
  std::vector<size_t> order(statements.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return statements[a].fraction < statements[b].fraction;
  });
  Haystack haystack;
  haystack.offsets.assign(statements.size(), -1);
  for (const size_t i : order) {
    if (statements[i].role != Role::Placeholder) {
      haystack.text += haystack.text.empty() ? "" : " ";
      haystack.offsets[i] = int64_t(haystack.text.size());
      haystack.text += statements[i].sentence;
    }
  }
  return haystack;
}

}  // namespace

int64_t Frame::haystack_bytes(int64_t other_bytes) const {
  const double room = double(length - max_tokens) - calibration.overhead;
  const double bytes = std::floor(room / calibration.tokens_per_byte + 1e-6);
  return std::max(int64_t{0}, int64_t(bytes) - other_bytes);
}

int64_t Frame::predicted_tokens(int64_t prompt_bytes) const {
  return std::llround(calibration.overhead + calibration.tokens_per_byte * double(prompt_bytes));
}

const char* name_of(Arm arm) {
  static constexpr const char* kNames[] = {"main", "noev", "swap", "short", "alone", "reseed"};
  return kNames[static_cast<size_t>(arm)];
}

std::string cue(Api api) {
  return api == Api::Completions ? "\nAnswer:" : "";
}

std::string decimals(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f", value);
  return text;
}

std::string with_salt(const Draft& draft, const Frame& frame) {
  const std::string reseed = draft.arm == Arm::Reseed ? "/reseed" : "";
  return salt_line(frame.seed, draft.salt + reseed) + "\n";
}

Haystack lay_out(const Draft& draft, const Frame& frame, int64_t other_bytes) {
  if (draft.arm == Arm::Short) {
    return without_filler(draft.statements);
  }
  std::vector<Insert> inserts;
  for (const auto& statement : draft.statements) {
    inserts.push_back({statement.fraction, statement.sentence});
  }
  const std::string reseed = draft.arm == Arm::Reseed ? "/reseed" : "";
  return make_haystack(derive_seed(frame.seed, draft.filler + reseed),
                       frame.haystack_bytes(other_bytes), inserts);
}

void describe(Item& item, const std::vector<Statement>& statements,
              const std::vector<int64_t>& starts, const Frame& frame) {
  const int64_t n_bytes = bytes_of(item);
  item.tokens_predicted = frame.predicted_tokens(n_bytes);
  for (size_t i = 0; i < statements.size(); ++i) {
    if (statements[i].role != Role::Evidence) {
      continue;
    }
    const auto tokens = [&](int64_t bytes) {
      return std::llround(frame.calibration.tokens_per_byte * double(bytes));
    };
    item.evidence.push_back({double(starts[i]) / double(std::max<int64_t>(1, n_bytes)),
                             tokens(starts[i]), tokens(n_bytes - starts[i])});
    item.sentences.push_back(statements[i].sentence);
  }
}

Item finish(Draft draft, const Frame& frame) {
  Item item = std::move(draft.item);
  item.arm = name_of(draft.arm);
  item.length = frame.length;
  if (draft.arm == Arm::NoEvidence) {
    withhold(draft, frame);
  }
  if (draft.arm == Arm::Alone) {
    draft.statements.clear();
    item.distractors.clear();
  }
  if (draft.arm == Arm::NoEvidence || draft.arm == Arm::Alone) {
    drop_gold(item);
  }
  const std::string opening =
      with_salt(draft, frame) + (draft.head.empty() ? "" : draft.head + "\n");
  const std::string ending = draft.question + (draft.continuation ? "" : cue(frame.api));
  Haystack haystack;
  if (draft.arm != Arm::Alone) {
    haystack = lay_out(draft, frame, int64_t(opening.size() + 1 + ending.size()));
    haystack.text += "\n";
  }
  item.ask.api = frame.api;
  item.ask.max_tokens = frame.max_tokens;
  item.ask.messages = {{"user", opening + haystack.text + ending}};
  for (auto& offset : haystack.offsets) {
    offset += int64_t(opening.size());
  }
  describe(item, draft.statements, haystack.offsets, frame);
  return item;
}

void check_prompt(const Item& item) {
  for (const auto& sentence : item.sentences) {
    int64_t n = 0;
    for (const auto& message : item.ask.messages) {
      for (auto at = message.content.find(sentence); at != std::string::npos;
           at = message.content.find(sentence, at + 1)) {
        ++n;
      }
    }
    if (n != 1) {
      throw Error(Code::Internal, "item ", item.task, ": the evidence \"", sentence,
                  "\" must stand in the prompt once, but stands there ", n, " times");
    }
  }
}

}  // namespace gyre::accept

// Tasks make items: a prompt of a given length with evidence at given places, the right answer, and
// the paired controls of the same item. One file per task; the sentences are those of
// testing/mock_server/README.md, which both sides know.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "gyre/accept/calibration.h"
#include "gyre/accept/item.h"

namespace gyre::accept {

/// What all tasks need to know about the requests of a run.
struct Frame {
  Api api = Api::Chat;
  int64_t length = 4096;    // tokens, prompt and answer together
  int64_t max_tokens = 64;  // of the answer
  // From bytes of the whole prompt (all contents) to tokens: fit it with prompt_bytes(ask).
  Calibration calibration;
  uint64_t seed = 1;  // of the run

  /// Bytes of haystack that leave room for the answer and for `other_bytes` of the prompt that are
  /// no haystack: salt, question, how to answer. At least 0.
  int64_t haystack_bytes(int64_t other_bytes) const;
  int64_t predicted_tokens(int64_t prompt_bytes) const;
};

/// The control that an item is: the same item otherwise.
enum class Arm {
  Main,
  NoEvidence,  // evidence replaced by filler of equal length; the right answer is NONE
  Swap,        // only the code changes
  Short,       // evidence, distractors and question without filler
  Alone,       // the question alone
  Reseed,      // other filler
};
const char* name_of(Arm arm);  // "main", "noev", "swap", "short", "alone", "reseed"

/// Level 1: 16 stripes, "Checkpoint i: CODE", asked for in order at the head and at the tail.
struct RollCall {
  int64_t stripes = 16;
  int64_t only = 0;      // ask for one checkpoint (1 to stripes); 0 = all
  int64_t salt = 0;      // another salt: another text
  int64_t changed = -1;  // influence probe: one sentence of this stripe (0 ...) is replaced by
                         // another of equal bytes, before the stripe's checkpoint
  int64_t turns = 1;     // spread over that many messages with text: system, user, user, ...
  std::string odd;       // bytes put in half-way, code after them
};
Item make_roll_call(const RollCall& dials, const Frame& frame);

/// Level 2: one record among others. Families: needle (records), plain ("The code for X is C.").
struct Needle {
  std::string family = "needle";
  int64_t index = 0;        // number of the item: draws key, code, filler
  double fraction = 0.5;    // of the filler before the evidence
  int64_t distractors = 0;  // 0 to 31; those of fewer are among those of more, at the same places
  int64_t similarity = 2;   // equal slots, 0 to 4
  bool near_value = false;  // a distractor's code differs by one symbol
  bool paraphrase = false;  // question without a content word of the evidence
  bool question_first = false;
  Arm arm = Arm::Main;
};
Item make_needle(const Needle& dials, const Frame& frame);
/// Distractors for which a text of this length has room beside its filler, 0 to 31; more than that
/// may throw Error(Usage), but in the short arm any number fits.
int64_t most_distractors(const Frame& frame);

/// Level 3: one answer from m parts: codes joined, or digits summed mod 10.
struct Join {
  bool sum = false;
  int64_t index = 0, parts = 2;   // 2 to 4
  std::vector<double> fractions;  // one per part
  int64_t only = 0;               // control: ask for one part (1 to parts) alone; 0 = all
  Arm arm = Arm::Main;
};
Item make_join(const Join& dials, const Frame& frame);

enum class LinkOrder { Forward, Reverse, Shuffled };
/// Level 3: variables that hold the same code as another; h hops, decoy chains of equal shape.
struct Chain {
  int64_t index = 0, hops = 1, decoys = 1;
  LinkOrder order = LinkOrder::Shuffled;
  std::vector<double> fractions;  // one per link, hops + 1
  int64_t only = 0;  // control: ask for hop 1 ... hops, hops + 1 = the first variable's code
  Arm arm = Arm::Main;
};
Item make_chain(const Chain& dials, const Frame& frame);

enum class Conflict { Flat, Amended, Withdrawn, NearMiss };
/// Level 3: do two statements agree? Balanced over the four forms.
struct Contradiction {
  int64_t index = 0;
  Conflict form = Conflict::Flat;
  double first = 0.25, second = 0.75;  // fractions
  bool later_first = false;            // the later date stands first in the text
  Arm arm = Arm::Main;
};
Item make_contradiction(const Contradiction& dials, const Frame& frame);

/// Ranking mode: "The code for the red kettle is 7." and at the end "The code for the red kettle
/// is"; two worked examples first. Candidates: gold, values of the distractors, the twin's (dial
/// "twin"), absent values; in digit order. No evidence: the gold is in the dial "withheld".
struct Ranked {
  int64_t index = 0, distractors = 4, candidates = 10;
  double fraction = 0.5;
  Arm arm = Arm::Main;  // Main, NoEvidence (prior), Swap (the twin of the evidence gain)
};
Item make_ranked(const Ranked& dials, const Frame& frame);

/// Latency pass: its own salt first, so that no cache has seen it, and an answer of many tokens.
Item make_latency(int64_t repeat, const Frame& frame);

/// Self-check before anything is sent: every evidence sentence stands exactly once in the prompt.
///
/// throws  Error(Internal) with the sentence and how often it stands
void check_prompt(const Item& item);

}  // namespace gyre::accept

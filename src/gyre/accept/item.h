// One planned request of an acceptance run and what came of it. An item says everything that makes
// its request: the prompt can be built again from it, and its sid is a hash of it. A sample is an
// item with its final reply and verdict; samples.jsonl holds them all, the failed ones too.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "gyre/accept/subject.h"

namespace gyre::accept {

/// Where an evidence sentence stands, by three coordinates; tokens are estimated from bytes by the
/// calibration.
struct Place {
  double fraction = 0.0;                 // of the filler, 0 = first
  int64_t from_start = 0, from_end = 0;  // tokens
};

struct Distractor {
  std::string code;
  int64_t similarity = 0;  // slots equal to the asked ones, 0 to 4; 5 = the same key
  double fraction = 0.0;
};

/// How an answer is judged, see scoring.h.
/// Probe: numbers of the reply are read, its words are not.
enum class AnswerForm { Codes, Numbered, Digit, Word, Agreement, Ranking, Free, Probe };
const char* name_of(AnswerForm form);  // "codes", "numbered", ...
std::optional<AnswerForm> form_of(const std::string& name);

struct Item {
  int64_t level = 1;
  std::string task;      // "roll_call", "needle", "join", ...
  std::string arm;       // "main" or the control: noev | swap | short | alone | reseed
  int64_t length = 0;    // tokens aimed at
  int64_t occasion = 0;  // the same request asked again on purpose: 0, 1, ...
  int64_t index = 0;     // number of the item inside its cell
  std::map<std::string, std::string>
      dials;  // "k": "7", "s": "2", "bucket": "3", "qpos": "end", ...
  Ask ask;
  AnswerForm form = AnswerForm::Codes;
  std::vector<std::string> gold;  // codes in canonical form; Numbered: by checkpoint
  std::vector<Distractor> distractors;
  std::vector<Place> evidence;
  std::vector<std::string> sentences;  // the evidence as it stands in the prompt; check_prompt()
  int64_t tokens_predicted = 0;        // of the prompt, by calibration

  std::string sid;  // identity(), set by the session
};

/// Judgements of an answer; everything after Refusal means that there was none to judge.
enum class Verdict {
  Ok,
  Distractor,  // the code of a distractor
  WrongCode,   // a code that stands nowhere in the prompt
  Partial,     // some of the wanted codes, no wrong ones
  NoneSaid,    // says that there is no answer although there is
  Dump,        // more than two codes beyond the wanted ones
  Format,      // right value in a form that cannot be read, or no value at all
  Empty,       // no text
  Cut,         // finish_reason length before an answer
  Refusal,
  Error,  // a fault; Reply::fault says which
};
const char* name_of(Verdict verdict);  // "ok", "distractor", "wrong_code", ...
std::optional<Verdict> verdict_of(const std::string& name);

struct Sample {
  Item item;
  Reply reply;
  Verdict verdict = Verdict::Error;
  std::string found;       // what was read out of the answer
  std::string prompt_sha;  // of prompt_text(), as the record keeps it; "" = never recorded
  int64_t attempt = 1;     // attempts that this took
  int64_t in_flight = 1;   // requests at once, this one counted, when it was sent

  bool ok() const { return verdict == Verdict::Ok; }
};

/// Hash of everything that makes the request (never time or attempt): level, task, arm, length,
/// occasion, index, dials, the ask itself, the subject's name, the generator's version.
std::string identity(const Item& item, const std::string& subject);

/// The text of a prompt: its contents, for chats with a line before each that names the role. What
/// prompts/<sid>.txt.gz holds.
std::string prompt_text(const Ask& ask);

/// Raised whenever prompts made from the same dials change; part of every identity.
inline constexpr int64_t kGeneratorVersion = 1;

}  // namespace gyre::accept

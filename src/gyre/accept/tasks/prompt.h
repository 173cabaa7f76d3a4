// From the statements of an item to its prompt: salt line, haystack, question. What all tasks
// share.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "gyre/accept/tasks/task.h"
#include "gyre/accept/text/filler.h"

namespace gyre::accept {

enum class Role {
  Evidence,     // replaced by filler in the no-evidence arm
  Other,        // distractors, decoys: stay in every arm that has a text
  Placeholder,  // filler at a place that another setting of the dials uses; not in the short arm
};

/// A sentence that is put into the filler.
struct Statement {
  double fraction = 0.0;
  std::string sentence;
  Role role = Role::Other;
};

/// An item before it has a prompt.
struct Draft {
  Item item;  // level, task, index, dials, form, gold, distractors; the rest is filled in
  std::vector<Statement> statements;
  std::string question;  // asked at the end
  std::string head;      // stands before the text: the question once more, worked examples; or ""
  std::string salt;      // stream of the salt line
  std::string filler;    // stream of the filler
  Arm arm = Arm::Main;
  bool continuation = false;  // the question is the beginning of a sentence: no cue after it
};

/// Builds prompt, evidence places, sentences and prediction; applies the arm. One user message.
Item finish(Draft draft, const Frame& frame);

/// The pieces of finish() for tasks that lay their messages out themselves.
std::string with_salt(const Draft& draft, const Frame& frame);
Haystack lay_out(const Draft& draft, const Frame& frame, int64_t other_bytes);
/// Evidence, places and prediction, once the messages stand. `starts` are the bytes at which the
/// statements begin, counted over all contents.
void describe(Item& item, const std::vector<Statement>& statements,
              const std::vector<int64_t>& starts, const Frame& frame);

/// "\nAnswer:" where nothing else tells a model that it is its turn, else "".
std::string cue(Api api);
/// "0.35"
std::string decimals(double value);

}  // namespace gyre::accept

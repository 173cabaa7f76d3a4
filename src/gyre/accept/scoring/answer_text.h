// What an answer says in words: its thinking taken out, whether it says that there is no answer,
// whether it refuses, and where its first sentence ends.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gyre::accept {

struct Spoken {
  std::string text;         // without thinking, trimmed
  bool unfinished = false;  // a thinking tag was opened and never closed
};
/// Takes <think>...</think> and its kin out of an answer; a closing tag alone ends the thinking
/// too.
Spoken without_thinking(std::string_view answer);

/// "NONE", "the text does not say", "not mentioned", ...
bool says_none(std::string_view text);
/// "I'm sorry, I cannot help with that."
bool refuses(std::string_view text);
/// Up to the first line break or ". ", trimmed.
std::string first_sentence(std::string_view text);
/// Whether a server's finish_reason says that the budget ran out.
bool ran_out(std::string_view finish);

std::string lower(std::string_view text);
std::string trimmed(std::string_view text);
/// Runs of ASCII letters and digits.
std::vector<std::string> words_of_text(std::string_view text);

}  // namespace gyre::accept

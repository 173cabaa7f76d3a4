// How an answer of each form is read and judged; scoring.h is the way in.
#pragma once

#include <string>

#include "gyre/accept/scoring.h"

namespace gyre::accept {

Judgement judge_codes(const Item& item, const std::string& text);
Judgement judge_numbered(const Item& item, const std::string& text);
Judgement judge_digit(const Item& item, const std::string& text);
Judgement judge_word(const Item& item, const std::string& text);
Judgement judge_agreement(const Item& item, const std::string& text);
Judgement judge_ranking(const Item& item, const Reply& reply);

/// What to say of a text without any value: none, refusal or format. Right when none is wanted.
Verdict without_value(const Item& item, const std::string& text);
/// Verdict of a set of codes against the wanted ones; `codes` may hold repeats.
Verdict compare_codes(const Item& item, const std::vector<std::string>& codes);

/// Whether an answer that ran out of its budget had already been given: a list to its last number,
/// or a first sentence that is the answer and nothing else. Chains of thought are not.
bool is_complete(const Item& item, const std::string& text);

}  // namespace gyre::accept

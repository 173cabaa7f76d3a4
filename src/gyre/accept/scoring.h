// Verdicts without a judge: an answer is read by patterns and compared as a set.
#pragma once

#include <string>
#include <vector>

#include "gyre/accept/item.h"

namespace gyre::accept {

struct Judgement {
  Verdict verdict = Verdict::Error;
  std::string found;          // what was read out of the answer
  bool in_reasoning = false;  // empty content, but the reasoning holds the wanted codes
};

Judgement judge(const Item& item, const Reply& reply);

/// Numbered answers, "7: KX7-3QD" a line: code by checkpoint number, "" where there is none.
std::vector<std::string> numbered_codes(const std::string& text, int64_t n);

/// Share of text that repeats a span of its own: 1 = one span over and over.
double repetition(const std::string& text);
/// Looks like no language: share of bytes in words of more than 24 letters, symbols or controls.
bool is_gibberish(const std::string& text);

}  // namespace gyre::accept

// What the numbers say about each claim of the literature for this model, in words: also where a
// claim does not hold.
#pragma once

#include <string>
#include <vector>

namespace gyre::analyze {

struct Analysis;

enum class Verdict { Holds, Fails, Open };
const char* name_of(Verdict verdict);  // "holds", "does not hold", "open"

struct Finding {
  std::string id;     // "low-frequencies": the part of the page it belongs to
  std::string claim;  // what is claimed, one sentence
  Verdict verdict = Verdict::Open;
  std::string text;  // the numbers, and what they mean here
};

std::vector<Finding> find(const Analysis& analysis);

}  // namespace gyre::analyze

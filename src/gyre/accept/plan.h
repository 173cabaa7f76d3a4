// What a run would send before anything is sent: requests, tokens, time, money, per level and look.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "gyre/accept/options.h"

namespace gyre::accept {

struct PlanRow {
  std::string what;  // "level 1, 4096 tokens", "level 2 needle, 4096 tokens, look 1 of 3"
  int64_t requests = 0, prompt_tokens = 0, answer_tokens = 0;
  double seconds = -1, money = -1;  // -1 = not known: no timing, no price
};

struct Plan {
  std::vector<PlanRow> rows;
  PlanRow least, most;  // every decision at the first look; all looks
};

/// Time to the first token of a prompt of n tokens: a + b n + c n^2, seconds.
struct Speed {
  double a = 0, b = 0, c = 0, answer_tokens_per_s = 0;
  bool known = false;
};

Plan plan(const AcceptOptions& options, const Speed& speed = {});
std::string to_json(const Plan& plan);
std::string to_text(const Plan& plan);

}  // namespace gyre::accept

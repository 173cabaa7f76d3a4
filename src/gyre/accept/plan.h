// What a run would send before anything is sent: requests, tokens, time, money, per level and look.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "gyre/accept/item.h"
#include "gyre/accept/options.h"

namespace gyre::accept {

struct PlanRow {
  std::string what;  // "level 1, 4096 tokens", "level 2 needle, 4096 tokens, look 1 of 3"
  int64_t requests = 0, prompt_tokens = 0, answer_tokens = 0;
  double seconds = -1, money = -1;  // -1 = not known: no timing, no price
};

/// What a model in this process takes, before anything is allocated.
struct LocalShape {
  int64_t parameters = 0;
  struct Layer {
    int64_t heads = 0, kv_heads = 0, head_dim = 0;
    int64_t window = 0;  // tokens; 0 = all
  };
  std::vector<Layer> layers;
  int64_t value_bytes = 4;  // of keys and values in the cache
};
/// From the config and the headers of a run, model folder or .gguf file, as inspect reads them.
LocalShape local_shape(const std::filesystem::path& path, int64_t value_bytes);
/// 2 x kv_heads x head_dim x value_bytes for each layer and token that it keeps.
double kv_bytes(const LocalShape& shape, int64_t tokens);
/// 2 x parameters for each token, and 4 x heads x head_dim for each pair of tokens that attend.
double flops(const LocalShape& shape, int64_t tokens);

struct Plan {
  std::vector<PlanRow> rows;  // of all looks
  PlanRow least, most;        // every decision at the first look; all looks
  // In process: cache at the longest length, operations of the whole run; -1 = an endpoint.
  double kv_bytes = -1, least_flops = -1, most_flops = -1;
  int64_t ask_above = 0;
};

/// Time to the first token of a prompt of n tokens: a + b n + c n^2, seconds.
struct Speed {
  double a = 0, b = 0, c = 0, answer_tokens_per_s = 0;
  bool known = false;
};

/// Least squares over the recorded answers, each term 0 or more; not known with fewer than two
/// prompt sizes.
Speed fit_speed(const std::vector<Sample>& samples);

/// `shape`: of a model in process, null for an endpoint.
Plan plan(const AcceptOptions& options, const Speed& speed = {}, const LocalShape* shape = nullptr);
std::string to_json(const Plan& plan);
std::string to_text(const Plan& plan);

}  // namespace gyre::accept

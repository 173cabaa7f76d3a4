#include "gyre/accept/options.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "gyre/base/error.h"
#include "gyre/base/options.h"

namespace gyre::accept {
namespace {

constexpr int64_t kLeastLength = 64;  // tokens: a question, an answer and a sentence or two
constexpr int64_t kMostLength = 100'000'000;

template <class... T>
[[noreturn]] void refuse(const T&... parts) {
  throw Error(Code::Usage, "accept: ", parts...);
}

bool rises(const std::vector<int64_t>& values) {
  return std::adjacent_find(values.begin(), values.end(), std::greater_equal<>()) == values.end();
}

/// Every list of the options: not empty, in rising order, inside its range.
void check_list(const char* name, const std::vector<int64_t>& values, int64_t least, int64_t most,
                const char* unit) {
  const bool inside =
      std::all_of(values.begin(), values.end(), [&](int64_t x) { return x >= least && x <= most; });
  if (values.empty() || !inside || !rises(values)) {
    refuse("'", name, "' must be a rising list of ", unit, " from ", least, " to ", most, ", got ",
           gyre::detail::format(values));
  }
}

void check_choice(const char* name, const std::string& value,
                  const std::vector<std::string>& choices) {
  if (std::find(choices.begin(), choices.end(), value) != choices.end()) {
    return;
  }
  std::string known;
  for (const std::string& choice : choices) {
    known += (known.empty() ? "" : ", ") + choice;
  }
  const std::string near = nearest_name(value, choices);
  refuse("'", name, "' must be one of ", known, ", got '", value, "'",
         near.empty() ? "" : "; did you mean '" + near + "'?");
}

void check_count(const char* name, int64_t value, int64_t least, int64_t most) {
  if (value < least || value > most) {
    refuse("'", name, "' must be from ", least, " to ", most, ", got ", value);
  }
}

void check_price(const char* name, double value) {
  if (!std::isfinite(value) || value < 0.0) {
    refuse("'", name, "' must be money per million tokens, 0 or more, got ", value);
  }
}

/// Fields that are gyre's own: a run that set them would not ask what it says.
void check_send(const std::string& text) {
  if (text.empty()) {
    return;
  }
  const auto json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_object()) {
    refuse("'send' must be a JSON object such as {\"options\":{\"num_ctx\":16384}}, got ", text);
  }
  for (const char* own : {"messages", "prompt", "model", "max_tokens", "stream"}) {
    if (json.contains(own)) {
      refuse("'send' may not hold '", own, "': the run sets it itself");
    }
  }
}

}  // namespace

AcceptOptions options_of(const std::map<std::string, std::string>& settings) {
  AcceptOptions options;
  for (const Field& field : fields_of(options)) {
    if (const auto found = settings.find(field.name); found != settings.end()) {
      field.set(found->second);
    }
  }
  return options;
}

void check(const AcceptOptions& options) {
  check_list("lengths", options.lengths, kLeastLength, kMostLength, "prompt lengths in tokens");
  check_list("levels", options.levels, 1, 3, "levels");
  check_count("original-length", options.original_length, kLeastLength, kMostLength);
  check_count("context", options.context, 0, kMostLength);
  check_count("seed", options.seed, 0, INT64_MAX);
  check_choice("api", options.api, {"auto", "chat", "completions", "both"});
  check_choice("stream", options.stream, {"auto", "on", "off"});
  check_choice("ranking", options.ranking, {"auto", "on", "off"});
  check_count("concurrency", options.concurrency, 1, 1024);
  check_list("looks", options.looks, 1, 100'000, "items per bucket");
  if (!(options.threshold > 0.0 && options.threshold <= 1.0)) {
    refuse("'threshold' must be in (0, 1], got ", options.threshold);
  }
  if (!(options.alpha > 0.0 && options.alpha < 0.5)) {
    refuse("'alpha' must be in (0, 0.5), got ", options.alpha);
  }
  if (!(options.slow_s > 0.0 && options.slow_s < 1e6)) {
    refuse("'slow-first-byte' must be seconds above 0, got ", options.slow_s);
  }
  check_count("max-tokens", options.max_tokens, 0, kMostLength);
  check_send(options.send);
  check_price("price-in", options.price_in);
  check_price("price-out", options.price_out);
  check_count("ask-above", options.ask_above, 0, INT64_MAX);
}

}  // namespace gyre::accept

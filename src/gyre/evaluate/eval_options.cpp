#include "gyre/evaluate/eval_options.h"

#include <set>

#include "gyre/base/error.h"

namespace gyre::evaluate {
namespace {

void at_least(const char* name, int64_t value, int64_t least) {
  if (value < least) {
    throw Error(Code::Usage, "--", name, " must be at least ", least, ", got ", value);
  }
}

int64_t parse_length(const std::string& text, int64_t train_length) {
  const bool multiple = !text.empty() && text.back() == 'x';
  try {
    if (multiple) {
      double factor = 0;
      detail::parse(text.substr(0, text.size() - 1), factor);
      return static_cast<int64_t>(factor * static_cast<double>(train_length));
    }
    int64_t tokens = 0;
    detail::parse(text, tokens);
    return tokens;
  } catch (const Error&) {
    throw Error(Code::Usage, "--lengths: '", text,
                "' is no length; give tokens (512) or training lengths (2x)");
  }
}

}  // namespace

void check(const EvalOptions& options) {
  at_least("val-tokens", options.val_tokens, 0);
  at_least("val-block", options.val_block, 0);
  at_least("length-tokens", options.length_tokens, 0);
  at_least("needle-items", options.needle_items, 1);
  at_least("needle-foils", options.needle_foils, 1);
  at_least("eval-seed", options.eval_seed, 0);
  at_least("band-windows", options.band_windows, 0);
  for (const int64_t n : options.distractors) {
    at_least("distractors", n, 0);
  }
  parse_lengths(options.lengths, 256);
}

std::vector<int64_t> parse_lengths(const std::vector<std::string>& lengths, int64_t train_length) {
  std::set<int64_t> tokens;
  for (const std::string& text : lengths) {
    const int64_t length = parse_length(text, train_length);
    if (length < 2) {
      throw Error(Code::Usage, "--lengths: '", text, "' is ", length,
                  " tokens; the shortest length is 2");
    }
    tokens.insert(length);
  }
  return {tokens.begin(), tokens.end()};
}

}  // namespace gyre::evaluate

#include "gyre/evaluate/length_curve.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "gyre/base/error.h"

namespace gyre::evaluate {
namespace {

LengthEntry skipped_entry(int64_t length, bool sliding, const std::string& reason) {
  return {length, sliding, std::numeric_limits<double>::quiet_NaN(), 0, {}, reason};
}

LengthEntry measure(const data::TokenStream& stream, int64_t length, bool sliding,
                    const Region& region, const NllFn& nll) {
  const auto windows = sliding ? sliding_windows(region.begin, region.n, length)
                               : disjoint_windows(region.begin, region.n, length);
  const Scored scored = score(stream, windows, nll);
  return {length,
          sliding,
          mean_loss(scored),
          static_cast<int64_t>(scored.loss.size()),
          bucket_losses(scored, dyadic_edges(length)),
          ""};
}

/// Predictions start half a window in, so that a window of `length` needs this many tokens.
int64_t least_tokens(int64_t length) {
  return (length + 1) / 2 + length + 1;
}

/// Why the stream cannot serve a length; empty when it can.
std::string shortage(int64_t stream_tokens, int64_t length) {
  if (stream_tokens >= least_tokens(length)) {
    return "";
  }
  return str("the validation split has ", stream_tokens, " tokens, length ", length, " needs ",
             least_tokens(length));
}

}  // namespace

Region common_region(int64_t stream_tokens, int64_t largest, int64_t n_tokens) {
  const int64_t begin = (largest + 1) / 2;
  const int64_t held = (stream_tokens - 1 - begin) / largest;  // whole windows
  const int64_t wanted = std::max<int64_t>(1, (n_tokens + largest - 1) / largest);
  return {begin, std::max<int64_t>(0, std::min(wanted, held)) * largest};
}

std::vector<LengthEntry> length_curve(const data::TokenStream& stream,
                                      const std::vector<int64_t>& lengths, int64_t n_tokens,
                                      const NllFn& nll, std::vector<std::string>& notes) {
  int64_t largest = 0;  // that the stream holds
  for (const int64_t length : lengths) {
    largest = shortage(stream.size(), length).empty() ? std::max(largest, length) : largest;
  }
  const Region region = largest == 0 ? Region{} : common_region(stream.size(), largest, n_tokens);
  if (largest > 0 && region.n < n_tokens) {
    notes.push_back(str("length curve: ", n_tokens, " tokens asked, ", region.n,
                        " scored at every length; the validation split has ", stream.size()));
  }
  std::vector<LengthEntry> entries;
  for (const bool sliding : {false, true}) {
    for (const int64_t length : lengths) {
      const std::string reason = shortage(stream.size(), length);
      entries.push_back(reason.empty() ? measure(stream, length, sliding, region, nll)
                                       : skipped_entry(length, sliding, reason));
      const std::string where = str("length curve, ", length, sliding ? " sliding" : " disjoint");
      if (!reason.empty()) {
        notes.push_back(str(where, ": skipped, ", reason));
      } else if (!std::isfinite(entries.back().loss)) {
        notes.push_back(str(where, ": the loss is not finite"));
      }
    }
  }
  return entries;
}

}  // namespace gyre::evaluate

// Faults of positions and caches.
#include <algorithm>

#include "gyre/verify/subject.h"

namespace gyre::verify {

Fault cache_position() {
  return {"cache-position", "tokens that continue a cache start one position late (P36)",
          [](Subject& subject) {
            subject.cache_positions = [sound = subject.cache_positions](int64_t cached, int64_t n) {
              return sound(cached == 0 ? 0 : cached + 1, n);
            };
          }};
}

Fault chunk_offset_reset() {
  return {"chunk-offset-reset", "positions restart with every chunk (transformers#43082)",
          [](Subject& subject) {
            subject.chunk_positions = [sound = subject.chunk_positions](int64_t n, int64_t chunk) {
              auto out = sound(n, chunk);
              for (int64_t i = 0; i < n; ++i) {
                out[static_cast<size_t>(i)] = i % chunk;
              }
              return out;
            };
          }};
}

Fault chunk_offset_twice() {
  return {"chunk-offset-twice", "a chunk's offset is added twice (mlx-node#33)",
          [](Subject& subject) {
            subject.chunk_positions = [sound = subject.chunk_positions](int64_t n, int64_t chunk) {
              auto out = sound(n, chunk);
              for (int64_t i = 0; i < n; ++i) {
                out[static_cast<size_t>(i)] += i / chunk * chunk;
              }
              return out;
            };
          }};
}

Fault shared_padding_counter() {
  return {"shared-padding-counter",
          "decoded tokens count on from the padded width, not from the row (unsloth#3699)",
          [](Subject& subject) {
            subject.padded_positions = [sound = subject.padded_positions](
                                           const std::vector<int64_t>& row, int64_t n_decoded) {
              auto out = sound(row, n_decoded);
              for (size_t i = row.size(); i < out.size(); ++i) {
                out[i] = static_cast<int64_t>(i);
              }
              return out;
            };
          }};
}

Fault stale_window_cache() {
  return {"stale-window-cache",
          "a ring of `window` keys is rolled back by its counter alone (mlx-lm#1486)",
          [](Subject& subject) {
            subject.rolled_back = [](int64_t window, int64_t n_tokens, int64_t n_back) {
              std::vector<int64_t> ring(static_cast<size_t>(window), -1);
              for (int64_t token = 0; token < n_tokens; ++token) {
                ring[static_cast<size_t>(token % window)] = token;
              }
              const int64_t next = n_tokens - n_back;
              std::vector<int64_t> seen;
              for (int64_t p = std::max<int64_t>(0, next - window + 1); p < next; ++p) {
                seen.push_back(ring[static_cast<size_t>(p % window)]);
              }
              return seen;
            };
          }};
}

}  // namespace gyre::verify

// A pseudo-random permutation of [0, n) without a table: a Feistel network on the smallest even
// number of bits that holds n, walked along its cycle until the value falls inside. Position i is
// computed alone, so batch k needs no state and no memory.
#pragma once

#include <cstdint>

namespace gyre::data {

/// Image of i under the permutation of [0, n) that `key` selects; 0 <= i < n.
uint64_t permuted(uint64_t i, uint64_t n, uint64_t key);

}  // namespace gyre::data

// In process: nats per token of plain texts at the original length, and what a change did to them.
// Far finer than answers that are right or wrong: 32 texts see a difference of a hundredth of a
// nat.
#pragma once

#include <optional>
#include <vector>

#include "gyre/accept/acceptance.h"

namespace gyre::accept {

/// Asks the texts and adds their mean to the measures; does nothing where the subject does not give
/// the log-probabilities of a prompt. A text depends on its index, the seed and the length alone
/// (and on a tokenizer with very short tokens), so that different models read the same ones.
void run_text_nll(Bench& bench);

/// Mean difference over the texts that both runs read as equally many tokens, with a paired
/// bootstrap; nothing when there are none.
std::optional<Measure> text_nll_delta(const std::vector<Sample>& before,
                                      const std::vector<Sample>& after);

inline constexpr int64_t kTexts = 32;

}  // namespace gyre::accept

// What a ranked item's reply says: place of the right value among the candidates, its
// log-probability.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "gyre/accept/item.h"

namespace gyre::accept {

struct RankedScore {
  int64_t place = 0;     // of the right value among the candidates, 1 = the likeliest
  double logprob = 0.0;  // of the right value, nats
  double margin = 0.0;   // log p(gold) - log sum of p of the other candidates
};

/// Log-probability of one candidate; those that a server did not tell are at most
/// Reply::candidate_bound. Nothing when no candidate was told at all.
std::optional<double> candidate_logprob(const Item& item, const Reply& reply,
                                        const std::string& value);

/// Nothing when the reply is a fault or tells no candidate.
std::optional<RankedScore> ranked_score(const Item& item, const Reply& reply);

}  // namespace gyre::accept

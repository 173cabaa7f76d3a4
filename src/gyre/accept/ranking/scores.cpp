#include "gyre/accept/ranking/scores.h"

#include <algorithm>
#include <cmath>

namespace gyre::accept {
namespace {

bool told(const Reply& reply) {
  return std::any_of(reply.candidates.begin(), reply.candidates.end(),
                     [](const std::optional<double>& one) { return one.has_value(); });
}

double value_of(const Reply& reply, size_t i) {
  return reply.candidates[i].value_or(reply.candidate_bound);
}

}  // namespace

std::optional<double> candidate_logprob(const Item& item, const Reply& reply,
                                        const std::string& value) {
  if (!reply.answered() || !told(reply)) {
    return std::nullopt;
  }
  for (size_t i = 0; i < item.ask.candidates.size() && i < reply.candidates.size(); ++i) {
    if (item.ask.candidates[i] == " " + value) {
      return value_of(reply, i);
    }
  }
  return std::nullopt;
}

std::optional<RankedScore> ranked_score(const Item& item, const Reply& reply) {
  const auto gold = item.gold.empty() ? std::nullopt : candidate_logprob(item, reply, item.gold[0]);
  if (!gold) {
    return std::nullopt;
  }
  RankedScore score;
  score.logprob = *gold;
  score.place = 1;
  double others = 0.0;
  for (size_t i = 0; i < reply.candidates.size(); ++i) {
    if (item.ask.candidates[i] == " " + item.gold[0]) {
      continue;
    }
    score.place += value_of(reply, i) >= *gold;  // a tie is no success
    others += std::exp(value_of(reply, i));
  }
  score.margin = *gold - std::log(others);
  return score;
}

}  // namespace gyre::accept

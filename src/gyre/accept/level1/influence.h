// Was a part of the prompt read at all? One sentence of a stripe is replaced by another of equal
// length, and the log-probabilities of the first new token are compared. Needs no skill.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "gyre/accept/level1/prober.h"

namespace gyre::accept {

enum class Reading { Unknown, Read, NotRead };

struct Influence {
  bool known = false;               // the server tells log-probabilities
  double noise = 0.0;               // nats, between two equal requests
  std::map<int64_t, double> moved;  // nats, by stripe from 0
  std::vector<std::string> evidence;

  /// Exactly nothing moved while equal requests agree: not read. More than noise: read.
  Reading of(int64_t stripe) const;
};

Influence influence(Prober& prober, int64_t length, Api api, const std::vector<int64_t>& stripes);

}  // namespace gyre::accept

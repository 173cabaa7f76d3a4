// The positional part of logits: which pair of each layer and of the model turns distance into the
// most logit, how the others cancel, and where the dominant pair's sign changes outside the window.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "gyre/analyze/layer_record.h"
#include "gyre/analyze/subject.h"
#include "gyre/evaluate/bands.h"

namespace gyre::analyze {

struct LayerDominant {
  int64_t layer = 0, band = 0;
  double wavelength = 0.0;  // tokens
  double range = 0.0;       // logits over the training length, mean over heads
  double share = 0.0;       // of the sum of all pairs' ranges
};

/// C(d) = |A| cos(d theta + phase) of the dominant pair, in the head where its range is largest. A
/// cosine that starts at its top rises above 0 again at 0.75 wavelengths (claim L42).
struct SignChange {
  int64_t layer = 0, head = 0;
  double wavelength = 0.0;
  double phase = 0.0;               // rad; 0 = largest at distance 0
  double predicted = 0.0;           // 0.75 wavelengths, tokens
  std::optional<int64_t> measured;  // first distance past the minimum with C > 0, to 16 x training
};

struct Positions {
  evaluate::BandReport bands;             // over all text rows
  std::vector<LayerDominant> layers;      // rotating ones that contribute
  std::optional<SignChange> sign_change;  // none without a dominant pair
  int64_t train_length = 0;               // tokens
};

/// nullopt when nothing rotates
std::optional<Positions> measure_positions(const std::vector<LayerRecord>& layers,
                                           const model::Transformer& model, int64_t train_length);

}  // namespace gyre::analyze

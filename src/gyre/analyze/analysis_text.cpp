// What `gyre analyze` prints: findings with their verdicts, then where the rest is.
#include <sstream>

#include "gyre/analyze/analysis.h"

namespace gyre::analyze {

std::string to_text(const Analysis& a) {
  std::ostringstream out;
  out << a.model << ": " << a.shape.layers << " layers, " << a.shape.heads << " heads ("
      << a.shape.kv_heads << " of keys), head dim " << a.shape.head_dim << ", " << a.shape.pairs
      << " pairs, training length " << a.train_length << " tokens\n\n";
  for (const Finding& finding : a.findings) {
    out << finding.claim << ": " << name_of(finding.verdict) << "\n  " << finding.text << "\n";
  }
  if (a.spectrum) {
    out << "Gradient of frequencies by offset: slope of the surrogate and measured gradient differ "
           "by at most "
        << a.spectrum->worst << " of the largest\n";
  }
  return out.str();
}

}  // namespace gyre::analyze

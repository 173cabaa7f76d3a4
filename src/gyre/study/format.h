// Numbers as text, the same in sentences and in the terminal table.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>

namespace gyre::study {

inline std::string fixed(double value, int digits) {
  if (!std::isfinite(value)) {
    return "-";
  }
  char text[64];
  std::snprintf(text, sizeof(text), "%.*f", digits, value);
  return text;
}

inline std::string signed_number(double value, int digits = 4) {
  const std::string text = fixed(value, digits);
  return value >= 0 ? "+" + text : text;
}

/// 499712 -> "499,712".
inline std::string with_commas(int64_t value) {
  std::string text = std::to_string(value);
  for (auto place = static_cast<int64_t>(text.size()) - 3; place > (value < 0 ? 1 : 0);
       place -= 3) {
    text.insert(static_cast<size_t>(place), ",");
  }
  return text;
}

inline std::string p_text(double p) {
  return !std::isfinite(p) ? "-" : p < 0.0001 ? "<0.0001" : fixed(p, 4);
}

}  // namespace gyre::study

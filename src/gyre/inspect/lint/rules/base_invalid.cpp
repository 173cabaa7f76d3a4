// A base that gives no decreasing table of frequencies.
#include <cmath>

#include "gyre/inspect/lint/view.h"

namespace gyre::inspect {
namespace {

std::vector<Finding> check(const ResolvedModel& model) {
  std::vector<Finding> found;
  for (const RawKey& key : model.raw.keys()) {
    const std::string name = last_part(key.path);
    const bool is_base = name == "rope_theta" || name == "rotary_emb_base" ||
                         name == "rope_local_base_freq" || name == "global_rope_theta" ||
                         name == "local_rope_theta" || name == "freq_base";
    if (!is_base || key.type == RawType::Null || key.type == RawType::List ||
        key.type == RawType::Object) {
      continue;
    }
    if (key.type != RawType::Number || !std::isfinite(key.number) || key.number <= 1.0) {
      found.push_back(error(key.path, key.text, "a number above 1",
                            str("base must be a number above 1, found ", key.text)));
    }
  }
  return found;
}

}  // namespace

Rule base_invalid_rule() {
  return {"base-invalid",
          Severity::Error,
          "With a base of 1 or less the frequencies do not fall, with NaN or text there are "
          "none.",
          "Write the base the model was trained with (10000 unless its authors say "
          "otherwise).",
          "Su et al. 2021, section 3.4.3, arXiv:2104.09864",
          check};
}

}  // namespace gyre::inspect

// A base that gives no decreasing table of frequencies.
#include <algorithm>
#include <cmath>

#include "gyre/inspect/lint/view.h"

namespace gyre::inspect {
namespace {

// Bases that are numbers and still cannot be those of the weights.
void look_at_plausible(const ResolvedModel& model, std::vector<Finding>& found) {
  double local = 0.0, global = 0.0;
  for (const LayerKind& kind : model.kinds) {
    if (kind.base <= 0.0) {
      continue;
    }
    double& slot = kind.plan.mask.window > 0 ? local : global;
    slot = std::max(slot, kind.base);
    if (kind.scheme == "llama3" && kind.base == 1e4 && model.source != SourceKind::Gguf) {
      found.push_back(warning("rope_theta", text_of(kind.base), "500000",
                              "base 10000 with llama3 scaling; every released model with it has "
                              "500000; add or correct rope_theta"));
    }
  }
  // dots3 has 50000 on its windowed layers and 10000 on the others, so this is no law.
  if (model.model_type.starts_with("gemma") && global > 0.0 && local > global) {
    found.push_back(warning(
        "rope_theta", text_of(global), text_of(local),
        str("windowed layers have base ", text_of(local), " and global layers ", text_of(global),
            "; every Gemma has the larger one on global layers, so the two are exchanged")));
  }
}

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
  look_at_plausible(model, found);
  return found;
}

}  // namespace

Rule base_invalid_rule() {
  return {"base-invalid",
          Severity::Error,
          "With a base of 1 or less the frequencies do not fall, with NaN or text there are "
          "none. A base that no released model of the kind has gets a warning.",
          "Write the base the model was trained with (10000 unless its authors say "
          "otherwise).",
          "Su et al. 2021, section 3.4.3, arXiv:2104.09864",
          check};
}

}  // namespace gyre::inspect

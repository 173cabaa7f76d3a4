// Key/value heads that do not divide the query heads.
#include "gyre/inspect/lint/view.h"

namespace gyre::inspect {
namespace {

std::vector<Finding> check(const ResolvedModel& model) {
  std::vector<Finding> found;
  const auto judge = [&](const std::string& where, int64_t heads, int64_t kv) {
    if (heads > 0 && kv > 0 && heads % kv != 0) {
      found.push_back(error(where, std::to_string(kv), str("a divisor of ", heads),
                            str(kv, " key/value heads do not divide ", heads,
                                " query heads; each must serve the same number")));
    }
  };
  for (const LayerKind& kind : model.kinds) {
    judge("num_key_value_heads", kind.n_heads, kind.n_kv_heads);
    if (!found.empty()) {
      return found;
    }
  }
  const double heads = text_number(model, "num_attention_heads");
  const double kv = text_number(model, "num_key_value_heads");
  if (model.kinds.empty() && is_whole(heads) && is_whole(kv) && heads < 1e9 && kv < 1e9) {
    judge("num_key_value_heads", static_cast<int64_t>(heads), static_cast<int64_t>(kv));
  }
  return found;
}

}  // namespace

Rule kv_heads_rule() {
  return {"kv-heads",
          Severity::Error,
          "Query heads are shared out evenly over key/value heads; with a remainder readers "
          "stop or pair wrong heads.",
          "num_key_value_heads must divide num_attention_heads.",
          "Ainslie et al. 2023, arXiv:2305.13245",
          check};
}

}  // namespace gyre::inspect

// A rope_freqs tensor that cannot be right or contradicts the metadata.
#include <algorithm>
#include <cmath>

#include "gyre/inspect/lint/known_lengths.h"
#include "gyre/inspect/lint/view.h"
#include "gyre/position/extension.h"

namespace gyre::inspect {
namespace {

bool is_llama3(const std::vector<double>& divisors, const LayerKind& kind) {
  for (const double factor : {8.0, 32.0}) {  // Llama 3.1 and 3.3; Llama 3.2
    position::Llama3Options options;
    options.factor = factor;
    const std::vector<double> plain = plain_table(kind);
    const std::vector<double> scaled = position::llama3_bands(plain, options).bands;
    bool same = divisors.size() == plain.size();
    for (size_t m = 0; same && m < plain.size(); ++m) {
      same = std::abs(divisors[m] * scaled[m] / plain[m] - 1.0) < 1e-4;
    }
    if (same) {
      return true;
    }
  }
  return false;
}

std::vector<Finding> judge(const ResolvedModel& model, const ResolvedModel::Table& table,
                           const LayerKind& kind) {
  const auto n = static_cast<int64_t>(table.values.size());
  if (n != kind.n_pairs() && n != kind.head_dim / 2) {  // may cover pairs that do not rotate
    return {error(table.name, std::to_string(n), std::to_string(kind.n_pairs()),
                  str("'", table.name, "' has ", n, " divisors for ", kind.n_pairs(), " pairs"))};
  }
  const auto bad = std::find_if(table.values.begin(), table.values.end(),
                                [](double x) { return !(x > 0.0) || !std::isfinite(x); });
  if (bad != table.values.end()) {
    return {error(table.name, text_of(*bad), "above 0",
                  str("'", table.name, "' value ", bad - table.values.begin(), " is ",
                      text_of(*bad), "; divisors must be above 0"))};
  }
  const RawKey* type = gguf_key(model, "rope.scaling.type");
  const bool ones =
      std::all_of(table.values.begin(), table.values.end(), [](double x) { return x == 1.0; });
  if (!ones && type != nullptr && type->text != "none" &&
      gguf_number(model, "rope.scaling.factor") > 1.0) {
    return {
        warning(table.name, "divisors", "one kind of scaling",
                str("'", table.name, "' divides frequencies and ", type->path, " is '", type->text,
                    "' with factor ", text_of(gguf_number(model, "rope.scaling.factor")),
                    "; readers apply both"))};
  }
  if (known_length(model).family == "Llama 3" && !is_llama3(table.values, kind)) {
    return {warning(table.name,
                    str(digits(table.values.front(), 6), " ... ", digits(table.values.back(), 6)),
                    "1 ... 8 (Llama 3.1) or 1 ... 32 (Llama 3.2)",
                    str("'", table.name, "' is not the llama3 table of factor 8 or 32 that base ",
                        "500000 points to"))};
  }
  return {};
}

void look_at_unused_lists(const ResolvedModel& model, std::vector<Finding>& found) {
  for (const IgnoredKey& one : model.ignored) {
    if (one.key.find("rope_factors") != std::string::npos) {
      found.push_back(
          error(one.key, one.value, "", str("'", one.key, "' has no effect: ", one.reason)));
    }
  }
}

std::vector<Finding> check(const ResolvedModel& model) {
  std::vector<Finding> found;
  look_at_unused_lists(model, found);
  for (const ResolvedModel::Table& table : model.tables) {
    if (table.name.find("rope_freqs") == std::string::npos || table.values.empty()) {
      continue;
    }
    for (const LayerKind& kind : model.kinds) {
      const bool only = model.kinds.size() == 1;
      // With several kinds the tensor belongs to those without a window.
      if (kind.base > 0.0 && (only || kind.plan.mask.window == 0)) {
        const std::vector<Finding> more = judge(model, table, kind);
        found.insert(found.end(), more.begin(), more.end());
        return found;
      }
    }
  }
  return found;
}

}  // namespace

Rule rope_freqs_rule() {
  return {"rope-freqs",
          Severity::Error,
          "The tensor divides the frequency of each pair; one that is ignored, doubled or of "
          "another model rotates wrongly at long range.",
          "Convert again; do not treat the tensor as an unknown weight.",
          "vllm-project/vllm#7268, ggml-org/llama.cpp#8650",
          check};
}

}  // namespace gyre::inspect

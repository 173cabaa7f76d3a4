// head_dim against hidden size / heads.
#include <cmath>

#include "gyre/inspect/lint/view.h"

namespace gyre::inspect {
namespace {

double first_number(const ResolvedModel& model, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    const double value = text_number(model, name);
    if (!std::isnan(value)) {
      return value;
    }
  }
  return std::nan("");
}

bool rotates(const ResolvedModel& model) {
  for (const LayerKind& kind : model.kinds) {
    if (kind.base > 0.0) {
      return true;
    }
  }
  return model.kinds.empty() && text_key(model, "rope_theta") != nullptr;
}

std::vector<Finding> check(const ResolvedModel& model) {
  if (model.source == SourceKind::Gguf || text_key(model, "qk_rope_head_dim") != nullptr) {
    return {};
  }
  const double hidden = first_number(model, {"hidden_size", "n_embd", "d_model"});
  const double heads = first_number(model, {"num_attention_heads", "n_head", "n_heads"});
  if (!(hidden > 0.0) || !(heads > 0.0)) {
    return {};
  }
  const double quotient = hidden / heads;
  const double given =
      first_number(model, {"head_dim", "kv_channels", "attention_head_size", "head_size"});
  if (!std::isnan(given)) {
    if (given == quotient) {
      return {};
    }
    return {note("head_dim", text_of(given), "",
                 str("head_dim ", text_of(given), " is not hidden / heads = ", text_of(hidden),
                     " / ", text_of(heads), " = ", digits(quotient),
                     "; the key wins, a reader that divides rotates ", digits(quotient / 2),
                     " pairs instead of ", text_of(given / 2)))};
  }
  for (const LayerKind& kind : model.kinds) {
    if (static_cast<double>(kind.head_dim) != std::floor(quotient)) {
      return {};  // the class has a head dim of its own
    }
  }
  if (!is_whole(quotient)) {
    return {error("head_dim", "nothing", "a value",
                  str("no head_dim, and hidden / heads = ", text_of(hidden), " / ", text_of(heads),
                      " = ", digits(quotient), " is no whole number; add head_dim"))};
  }
  if (std::fmod(quotient, 2.0) != 0.0 && rotates(model)) {
    return {error("head_dim", "nothing", "an even value",
                  str("no head_dim, and hidden / heads = ", text_of(quotient),
                      " is odd; channels rotate in pairs, so add an even head_dim"))};
  }
  return {};
}

}  // namespace

Rule head_dim_rule() {
  return {"head-dim",
          Severity::Note,
          "An explicit head_dim is legal (Mistral Nemo, Qwen3, Gemma) but readers that divide "
          "get another table; without the key the quotient must be an even whole number, else "
          "it is an error.",
          "Nothing when the key is explicit, but check that the reader honours it; else add "
          "head_dim.",
          "huggingface/candle#2358, transformers PR#32495",
          check};
}

}  // namespace gyre::inspect

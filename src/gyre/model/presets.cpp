// Named model shapes. Only published rules and numbers, except `tiny`, which was chosen by
// measurement for short CPU runs (docs/train.md).
#include "gyre/base/error.h"
#include "gyre/model/config.h"

namespace gyre::model {
namespace {

/// The ladder of the DiLoCo scaling-law models (arXiv:2503.09799) as used in "Enoki"
/// (arXiv:2602.05298): head dim 64, layers 3h/4, width 64h, MLP 4x with GELU, pre-LayerNorm,
/// QK-norm before the rotation, untied embeddings, ScaledGPT initial weights. With a vocabulary of
/// 32,000 it has the sizes of arXiv:2607.10134: h8 52M, h16 217M, h40 2.52B.
Preset ladder(int64_t heads) {
  constexpr int64_t kHeadDim = 64;
  constexpr int64_t kVocab = 32'000;
  constexpr int64_t kTokensPerStep = 65'536;  // 32 sequences of 2048
  ModelConfig config;
  config.layout = position::PairLayout::Halves;
  config.vocab = kVocab;
  config.heads = heads;
  config.head_dim = kHeadDim;
  config.width = kHeadDim * heads;
  config.layers = 3 * heads / 4;
  config.hidden = 4 * config.width;
  config.norm = Norm::Layer;
  config.mlp = Mlp::Gelu;
  config.qk_norm = true;
  config.tied = false;
  config.init_std = 0.0;
  const int64_t total =
      12 * config.width * config.width * config.layers + 2 * config.width * kVocab;
  return {.name = str("h", heads),
          .summary = str("Enoki ladder, ", heads, " heads, 20 tokens per parameter"),
          .config = config,
          .length = 2048,
          .batch = 32,
          .steps = 20 * total / kTokensPerStep};
}

/// Gemma 2B (arXiv:2403.08295, table 1) trained from scratch as in arXiv:2410.06205, section 6:
/// 10,000 steps of 512 sequences of 8192 tokens = 41.9 G tokens.
Preset gemma2b_paper() {
  ModelConfig config;
  config.layout = position::PairLayout::Halves;
  config.vocab = 256'128;
  config.width = 2048;
  config.layers = 18;
  config.heads = 8;
  config.kv_heads = 1;
  config.head_dim = 256;
  config.hidden = 16'384;
  config.mlp = Mlp::GeGlu;
  config.norm_eps = 1e-6;
  return {.name = "gemma2b-paper",
          .summary = "Gemma 2B as trained in the p-RoPE paper, 41.9 G tokens",
          .config = config,
          .length = 8192,
          .batch = 512,
          .steps = 10'000};
}

Preset tiny() {
  ModelConfig config;
  config.layout = position::PairLayout::Halves;
  config.vocab = 0;
  return {.name = "tiny",
          .summary = "width 128, 3 layers, 2 heads of 64: minutes on a CPU",
          .config = config,
          .length = 256,
          .batch = 4,
          .steps = 0};
}

}  // namespace

const std::vector<Preset>& presets() {
  static const std::vector<Preset> list = [] {
    std::vector<Preset> out{tiny()};
    for (const int64_t heads : {2, 4, 6, 8, 12, 16, 20, 24, 32, 40}) {
      out.push_back(ladder(heads));
    }
    out.push_back(gemma2b_paper());
    return out;
  }();
  return list;
}

const Preset& find_preset(std::string_view name) {
  std::vector<std::string> names;
  for (const Preset& preset : presets()) {
    if (preset.name == name) {
      return preset;
    }
    names.push_back(preset.name);
  }
  const std::string near = nearest_name(name, names);
  std::string known;
  for (const std::string& each : names) {
    known += (known.empty() ? "" : ", ") + each;
  }
  throw Error(Code::Usage, "no preset '", name, "'",
              near.empty() ? "" : "; did you mean '" + near + "'?", " known: ", known);
}

}  // namespace gyre::model

// Two models that should agree, layer by layer: a checkpoint and its GGUF, two exports.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "gyre/inspect/diff_gguf.h"
#include "gyre/inspect/gguf_architectures.h"
#include "gyre/inspect/inspect.h"
#include "gyre/inspect/lint/tables.h"
#include "gyre/inspect/lint/view.h"

namespace gyre::inspect {
namespace {

using position::PairLayout;

constexpr double kSame = 1e-5;  // float32 keys and divisors, with room

/// Layers of one kind in `a` and of one kind in `b`.
struct Match {
  const LayerKind* a;
  const LayerKind* b;
  std::vector<int64_t> layers;
};

std::string side(const ResolvedModel& model) {
  switch (model.source) {
    case SourceKind::Gguf:
      return "the GGUF";
    case SourceKind::Run:
      return "the run";
    case SourceKind::Safetensors:
      return "the safetensors file";
    case SourceKind::Config:
    case SourceKind::Folder:
      break;
  }
  return "the config";
}

class Diff {
 public:
  Diff(const ResolvedModel& a, const ResolvedModel& b)
      : a_(a), b_(b), name_a_(side(a)), name_b_(side(b)) {
    if (name_a_ == name_b_) {
      name_a_ = "the first";
      name_b_ = "the second";
    }
  }

  std::vector<Finding> run() {
    if (compare_shapes()) {
      for (const Match& match : matches()) {
        match_ = &match;
        compare_kind();
      }
    }
    compare_lengths();
    compare_scaling_keys();
    std::stable_sort(found_.begin(), found_.end(),
                     [](const Finding& x, const Finding& y) { return x.severity > y.severity; });
    return std::move(found_);
  }

 private:
  void add(Severity severity, const std::string& id, const std::string& key, const std::string& x,
           const std::string& y, const std::string& message) {
    Finding finding = error(key, y, x, message);
    finding.severity = severity;
    finding.id = "diff-" + id;
    found_.push_back(std::move(finding));
  }

  std::string where() const {
    const std::vector<int64_t>& layers = match_->layers;
    if (static_cast<int64_t>(layers.size()) == a_.n_layers) {
      return "all layers";
    }
    std::string out = layers.size() == 1 ? "layer " : "layers ";
    for (size_t i = 0; i < std::min<size_t>(layers.size(), 4); ++i) {
      out += (i == 0 ? "" : ", ") + std::to_string(layers[i]);
    }
    return layers.size() > 4 ? str(out, ", ... (", layers.size(), ")") : out;
  }

  // "WHAT is X in the config and Y in the GGUF" plus what it does.
  std::string both(const std::string& what, const std::string& x, const std::string& y,
                   const std::string& then = "") const {
    return str(match_ == nullptr ? "" : where() + ": ", what, " is ", x, " in ", name_a_, " and ",
               y, " in ", name_b_, then.empty() ? "" : "; ", then);
  }

  void unequal(const std::string& id, const std::string& what, double x, double y,
               const std::string& then = "") {
    if (x != y) {
      add(Severity::Error, id, what, text_of(x), text_of(y),
          both(what, text_of(x), text_of(y), then));
    }
  }

  bool compare_shapes() {
    if (a_.n_layers != b_.n_layers) {
      unequal("layers", "number of layers", static_cast<double>(a_.n_layers),
              static_cast<double>(b_.n_layers), "these are two models");
      return false;
    }
    return true;
  }

  std::vector<Match> matches() const {
    std::map<std::pair<size_t, size_t>, std::vector<int64_t>> shared;
    for (size_t i = 0; i < a_.kinds.size(); ++i) {
      const std::set<int64_t> mine(a_.kinds[i].layers.begin(), a_.kinds[i].layers.end());
      for (size_t j = 0; j < b_.kinds.size(); ++j) {
        for (const int64_t layer : b_.kinds[j].layers) {
          if (mine.contains(layer)) {
            shared[{i, j}].push_back(layer);
          }
        }
      }
    }
    std::vector<Match> result;
    for (auto& [pair, layers] : shared) {
      std::sort(layers.begin(), layers.end());
      result.push_back({&a_.kinds[pair.first], &b_.kinds[pair.second], layers});
    }
    return result;
  }

  void compare_kind() {
    const LayerKind& x = *match_->a;
    const LayerKind& y = *match_->b;
    unequal("heads", "number of heads", static_cast<double>(x.n_heads),
            static_cast<double>(y.n_heads));
    if (!is_latent_head(a_, x) && !is_latent_head(b_, y)) {
      unequal("heads", "number of key/value heads", static_cast<double>(x.n_kv_heads),
              static_cast<double>(y.n_kv_heads));
    }
    compare_rotation(x, y);
    compare_slopes(x, y);
    compare_mask(x.plan.mask, y.plan.mask);
  }

  static bool rotates(const LayerKind& kind) {
    return !kind.plan.inv_freq.empty() && !kind.plan.inv_freq[0].empty();
  }

  void compare_rotation(const LayerKind& x, const LayerKind& y) {
    if (rotates(x) != rotates(y)) {
      add(Severity::Error, "rotation", "rotation", rotates(x) ? "yes" : "no",
          rotates(y) ? "yes" : "no",
          str(where(), ": positions rotate in ", rotates(x) ? name_a_ : name_b_, " and not in ",
              rotates(x) ? name_b_ : name_a_));
      return;
    }
    if (!rotates(x)) {
      return;
    }
    if (x.rotary_dim != y.rotary_dim && turning(x) != turning(y)) {
      unequal("rotary-dim", "rotated dim", static_cast<double>(x.rotary_dim),
              static_cast<double>(y.rotary_dim), "other channels are paired");
      return;
    }
    if (x.base > 0.0 && y.base > 0.0 && std::abs(y.base / x.base - 1.0) > kSame) {
      unequal("base", "base", x.base, y.base);
    } else {
      compare_table("table", x.plan.inv_freq[0], y.plan.inv_freq[0]);
      compare_long(x, y);
    }
    compare_amplitude("amplitude", "amplitude", x.plan.amplitude, y.plan.amplitude);
    if (x.long_amplitude > 0.0 || y.long_amplitude > 0.0) {
      const auto late = [](const LayerKind& kind) {
        return kind.long_amplitude > 0.0 ? kind.long_amplitude : kind.plan.amplitude;
      };
      compare_amplitude("long-amplitude", "amplitude past the original length", late(x), late(y));
    }
    compare_logit_scale(x, y);
    compare_layout(x, y);
  }

  void compare_amplitude(const char* id, const char* what, double x, double y) {
    if (const double ratio = y / x; std::abs(ratio - 1.0) > kSame) {
      add(Severity::Error, id, what, digits(x), digits(y),
          both(what, digits(x), digits(y), str("logits differ by x", digits(ratio * ratio, 7))));
    }
  }

  static int64_t turning(const LayerKind& kind) {
    const std::vector<double>& row = kind.plan.inv_freq[0];
    return std::count_if(row.begin(), row.end(), [](double f) { return f != 0.0; });
  }

  // Tables may differ in length by pairs that do not rotate; 1e30 as a divisor leaves next to 0.
  void compare_table(const std::string& id, std::vector<double> x, std::vector<double> y) {
    const size_t n = std::max(x.size(), y.size());
    x.resize(n, 0.0);
    y.resize(n, 0.0);
    for (std::vector<double>* row : {&x, &y}) {
      for (double& f : *row) {
        f = f < 1e-20 ? 0.0 : f;
      }
    }
    const Difference worst = difference(y, x);
    if (worst.relative <= kSame) {
      return;
    }
    const double ratio = y[worst.pair] / x[worst.pair];
    const std::string what = id == "table" ? "frequency" : "frequency past the original length";
    add(Severity::Error, id, what, digits(x[worst.pair], 9), digits(y[worst.pair], 9),
        both(str(what, " of pair ", worst.pair), digits(x[worst.pair], 9), digits(y[worst.pair], 9),
             str("the largest difference, x", digits(ratio, 6), cause())));
  }

  // The usual reason when one side's scaling is absent.
  std::string cause() const {
    const auto unscaled = [](const LayerKind& kind) {
      const std::vector<double> plain = kind.base > 1.0 ? plain_table(kind) : std::vector<double>{};
      return plain.size() == kind.plan.inv_freq[0].size() &&
             difference(kind.plan.inv_freq[0], plain).relative <= kSame;
    };
    const bool x = unscaled(*match_->a);
    const bool y = unscaled(*match_->b);
    if (x == y) {
      return "";
    }
    const ResolvedModel& lacking = x ? a_ : b_;
    const std::string& scaled = x ? match_->b->scheme : match_->a->scheme;
    const bool in_tensor = lacking.source == SourceKind::Gguf && scaled == "llama3";
    return str("; ", x ? name_a_ : name_b_, " has no scaling",
               in_tensor ? ", rope_freqs.weight " +
                               state_of_freqs(lacking, match_->a->plan.inv_freq[0].size())
                         : "");
  }

  void compare_long(const LayerKind& x, const LayerKind& y) {
    if (x.long_inv_freq.empty() != y.long_inv_freq.empty()) {
      add(Severity::Error, "long-table", "second table", x.long_inv_freq.empty() ? "none" : "one",
          y.long_inv_freq.empty() ? "none" : "one",
          str(where(), ": only ", x.long_inv_freq.empty() ? name_b_ : name_a_,
              " has another table past the original length"));
    } else if (!x.long_inv_freq.empty()) {
      compare_table("long-table", x.long_inv_freq, y.long_inv_freq);
    }
  }

  void compare_logit_scale(const LayerKind& x, const LayerKind& y) {
    if (std::abs(y.plan.logit_scale / x.plan.logit_scale - 1.0) > kSame) {
      add(Severity::Error, "logit-scale", "softmax scale", digits(x.plan.logit_scale),
          digits(y.plan.logit_scale),
          both("factor on the softmax scale", digits(x.plan.logit_scale),
               digits(y.plan.logit_scale)));
    }
  }

  // The converter permutes the q and k rows of "norm" families, so that a Hugging Face llama
  // (halves) is interleaved in its GGUF: the same rotation. Each reader knows which families.
  void compare_layout(const LayerKind& x, const LayerKind& y) {
    if (x.layout == y.layout || x.n_pairs() == 0 || y.n_pairs() == 0) {
      return;
    }
    const auto name = [](const LayerKind& kind) { return std::string(layout_name(kind.layout)); };
    if (x.layout == PairLayout::Unstated || y.layout == PairLayout::Unstated) {
      add(Severity::Note, "layout", "pair layout", name(x), name(y),
          both("pair layout", name(x), name(y), "not compared, one side does not state it"));
      return;
    }
    const bool one_gguf = (a_.source == SourceKind::Gguf) != (b_.source == SourceKind::Gguf);
    const ResolvedModel& gguf = a_.source == SourceKind::Gguf ? a_ : b_;
    const LayerKind& in_gguf = a_.source == SourceKind::Gguf ? x : y;
    if (one_gguf && in_gguf.layout == PairLayout::Interleaved && !is_unpermuted(gguf.model_type)) {
      add(Severity::Note, "layout", "pair layout", name(x), name(y),
          both("pair layout", name(x), name(y),
               "the converter permutes the rows of q and k, so the rotation is the same"));
      return;
    }
    add(Severity::Error, "layout", "pair layout", name(x), name(y),
        both("pair layout", name(x), name(y),
             one_gguf ? str("converters leave the rows of '", gguf.model_type,
                            "' as they are, so one side pairs wrong channels")
                      : "one side pairs wrong channels unless rows of q and k were permuted"));
  }

  // Families whose rows no converter permutes, because llama.cpp pairs halves for them too.
  static bool is_unpermuted(const std::string& architecture) {
    const GgufArchitecture* known = find_gguf_architecture(architecture);
    return known != nullptr && known->rotation == GgufRotation::Halves;
  }

  void compare_slopes(const LayerKind& x, const LayerKind& y) {
    const std::vector<double>& p = x.plan.slopes;
    const std::vector<double>& q = y.plan.slopes;
    if (p.size() != q.size()) {
      unequal("slopes", "number of ALiBi slopes", static_cast<double>(p.size()),
              static_cast<double>(q.size()));
      return;
    }
    const Difference worst = difference(q, p);
    if (worst.relative > kSame) {
      add(Severity::Error, "slopes", "slope", digits(p[worst.pair], 9), digits(q[worst.pair], 9),
          both(str("slope of head ", worst.pair), digits(p[worst.pair], 9),
               digits(q[worst.pair], 9)));
    }
  }

  void compare_mask(const position::MaskSpec& x, const position::MaskSpec& y) {
    // A window or chunk that covers every admitted position is none.
    const auto effective = [](int64_t keys, int64_t longest) {
      return longest > 0 && keys >= longest ? 0 : keys;
    };
    const double p = static_cast<double>(effective(x.window, a_.max_length));
    const double q = static_cast<double>(effective(y.window, b_.max_length));
    unequal("window", "window", p, q,
            p == 0.0 || q == 0.0     ? "0 = none"
            : std::abs(p - q) == 1.0 ? "one of the two does not count the query itself"
                                     : "");
    unequal("chunk", "chunk", static_cast<double>(effective(x.chunk, a_.max_length)),
            static_cast<double>(effective(y.chunk, b_.max_length)));
  }

  void compare_lengths() {
    match_ = nullptr;
    if (a_.original_length > 0 && b_.original_length > 0 && says_original(a_) &&
        says_original(b_) && a_.original_length != b_.original_length) {
      add(Severity::Warning, "original-length", "original length", str(a_.original_length),
          str(b_.original_length),
          both("original length", str(a_.original_length), str(b_.original_length)));
    }
    // A length that follows from the factor on one side and stands in the file on the other.
    const double x = stated_length(a_);
    const double y = stated_length(b_);
    if (x > 0.0 && y > 0.0 && x != y && a_.max_length != b_.max_length) {
      add(Severity::Warning, "max-length", "max length", text_of(x), text_of(y),
          both("longest admitted length", text_of(x), text_of(y)));
    }
  }

  static double stated_length(const ResolvedModel& model) {
    const double stated =
        model.source == SourceKind::Gguf ? gguf_number(model, "context_length") : max_length(model);
    return std::isnan(stated) ? static_cast<double>(model.max_length) : stated;
  }

  // Scaling that a GGUF keeps in a tensor leaves no place for the length before it.
  static bool says_original(const ResolvedModel& model) {
    return model.source != SourceKind::Gguf || model.tables.empty() ||
           gguf_key(model, "rope.scaling.original_context_length") != nullptr;
  }

  // A converter that does not know a class writes no scaling keys for it.
  void compare_scaling_keys() {
    if ((a_.source == SourceKind::Gguf) == (b_.source == SourceKind::Gguf)) {
      return;
    }
    const ResolvedModel& gguf = a_.source == SourceKind::Gguf ? a_ : b_;
    const ResolvedModel& config = a_.source == SourceKind::Gguf ? b_ : a_;
    for (const RopeBlock& block : rope_blocks(config)) {
      if (block.type != "yarn" && block.type != "linear") {
        continue;
      }
      const RawKey* type = gguf_key(gguf, "rope.scaling.type");
      const bool older = gguf_key(gguf, "rope.scale_linear") != nullptr;
      if (type == nullptr && !older && gguf.raw.has("general.architecture") &&
          gguf.tables.empty()) {
        const std::string prefix = gguf.model_type + ".rope.scaling.";
        const double original = original_length(config, block);
        add(Severity::Error, "scaling-keys", prefix + "type", block.type, "nothing",
            str("the config has rope type '", block.type, "' with factor ",
                digits(block.number("factor"), 6), " and the GGUF ", scaling_keys_of(gguf),
                "; write ", prefix, "type = ", block.type, ", ", prefix,
                "factor = ", digits(block.number("factor"), 6),
                std::isnan(original)
                    ? ""
                    : str(", ", prefix, "original_context_length = ", text_of(original))));
        return;
      }
    }
  }

  const ResolvedModel& a_;
  const ResolvedModel& b_;
  std::string name_a_, name_b_;
  const Match* match_ = nullptr;
  std::vector<Finding> found_;
};

}  // namespace

std::vector<Finding> diff(const ResolvedModel& a, const ResolvedModel& b) {
  return Diff(a, b).run();
}

}  // namespace gyre::inspect

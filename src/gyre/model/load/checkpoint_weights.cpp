#include "gyre/model/load/checkpoint_weights.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "gyre/base/error.h"
#include "gyre/model/shapes.h"

namespace gyre::model {
namespace {

std::string sizes_text(const std::vector<int64_t>& sizes) {
  std::string out;
  for (const int64_t size : sizes) {
    out += (out.empty() ? "" : ", ") + std::to_string(size);
  }
  return "[" + out + "]";
}

/// A parameter's place: "blocks.3.attention.qkv.weight" -> 3, "attention.qkv", "weight".
struct Place {
  int64_t layer = 0;
  std::string what, end;
};

Place place_of(const std::string& name) {
  Place place;
  const size_t dot = name.rfind('.');
  place.end = name.substr(dot + 1);
  place.what = name.substr(0, dot);
  if (place.what.starts_with("blocks.")) {
    const char* digits = place.what.data() + 7;
    const auto [stop, fault] =
        std::from_chars(digits, place.what.data() + place.what.size(), place.layer);
    place.what = std::string(stop + 1);
  }
  return place;
}

/// The tensors a parameter can be made of, and the rows each gives.
struct Choice {
  std::vector<Role> roles;
  std::vector<int64_t> rows;
};

/// Ways to store one parameter, the usual one first.
std::vector<Choice> choices_of(const std::string& what, const ModelConfig& config, int64_t rows) {
  static const std::map<std::string, Role> kSingle = {
      {"embedding", Role::Embedding},
      {"norm", Role::FinalNorm},
      {"head", Role::Head},
      {"attention_norm", Role::AttentionNorm},
      {"attention.q_norm", Role::QNorm},
      {"attention.k_norm", Role::KNorm},
      {"attention.out", Role::Out},
      {"attention_post_norm", Role::AttentionPostNorm},
      {"mlp_norm", Role::MlpNorm},
      {"mlp.down", Role::Down},
      {"mlp_post_norm", Role::MlpPostNorm}};
  const int64_t D = config.head_dim, q = config.heads * D, kv = config.n_kv_heads() * D;
  if (what == "attention.qkv") {
    return {{{Role::Q, Role::K, Role::V}, {q, kv, kv}}, {{Role::Qkv}, {rows}}};
  }
  if (what == "mlp.gate_up") {
    return {{{Role::Gate, Role::Up}, {config.hidden, config.hidden}}, {{Role::GateUp}, {rows}}};
  }
  const auto found = kSingle.find(what);
  if (found == kSingle.end()) {
    throw Error(Code::Internal, "no tensor is known for the parameter ", what);
  }
  return {{{found->second}, {rows}}};
}

bool biased(const std::string& what, const StoredBiases& biases) {
  return what == "attention.qkv" ? biases.qkv : what == "attention.out" ? biases.out : biases.mlp;
}

class RecipeBook {
 public:
  RecipeBook(const TensorStore& store, const TensorNames& names, const ModelConfig& config)
      : store_(store), names_(names), config_(config) {}

  /// Names of the stored tensors that make `shape`, checked.
  std::vector<std::string> parts(const ParameterShape& shape, const Place& place) {
    const std::vector<Choice> choices = choices_of(place.what, config_, shape.sizes.at(0));
    const Choice* choice = &choices.front();
    for (const Choice& each : choices) {
      if (stored(each, place)) {
        choice = &each;
        break;
      }
    }
    std::vector<std::string> out;
    for (size_t i = 0; i < choice->roles.size(); ++i) {
      std::vector<int64_t> sizes = shape.sizes;
      sizes[0] = choice->rows[i];
      out.push_back(name(choice->roles[i], place));
      check(out.back(), sizes, choices, place);
      used_.insert(out.back());
    }
    return out;
  }

  /// Error when a tensor of the model is in no recipe.
  void check_rest(const std::string& family) const {
    for (const StoredInfo& each : store_.tensors()) {
      const bool tied_head = config_.tied && each.name == names_.name(Role::Head);
      if (!used_.contains(each.name) && !names_.may_be_left(each.name) && !tied_head) {
        throw Error(Code::Format, each.file, ": tensor ", each.name, " is no part of a ", family,
                    " model of ", config_.layers, " layers with the config's settings");
      }
    }
  }

 private:
  std::string name(Role role, const Place& place) const {
    return names_.name(role, place.layer, place.end.c_str());
  }

  /// Whether the tensors of a choice are there. One of several parts may bear the name of the whole
  /// (llama.cpp's ffn_up), so a whole must have its rows, too.
  bool stored(const Choice& choice, const Place& place) const {
    for (size_t i = 0; i < choice.roles.size(); ++i) {
      const StoredInfo* info = store_.find(name(choice.roles[i], place));
      const bool whole = names_.is_gguf() && choice.roles[i] == Role::GateUp;
      if (info == nullptr || (whole && (info->sizes.empty() || info->sizes[0] != choice.rows[i]))) {
        return false;
      }
    }
    return true;
  }

  /// ", and so is NAME" where another tensor would do as well and is missing, too.
  std::string also_missing(const std::string& tensor, const std::vector<Choice>& choices,
                           const Place& place) const {
    for (size_t i = 1; i < choices.size(); ++i) {
      const std::string other = name(choices[i].roles[0], place);
      if (choices[i].roles.size() == 1 && other != tensor && store_.find(other) == nullptr) {
        return ", and so is " + other;
      }
    }
    return "";
  }

  void check(const std::string& tensor, const std::vector<int64_t>& sizes,
             const std::vector<Choice>& choices, const Place& place) const {
    const StoredInfo* info = store_.find(tensor);
    if (info == nullptr) {
      throw Error(Code::Format, store_.tensors().front().file, ": tensor ", tensor, " is missing",
                  also_missing(tensor, choices, place));
    }
    if (info->sizes != sizes) {
      throw Error(Code::Format, info->file, ": tensor ", tensor, " has sizes ",
                  sizes_text(info->sizes), ", expected ", sizes_text(sizes),
                  " by the config's sizes");
    }
    store_.check_type(tensor);
  }

  const TensorStore& store_;
  const TensorNames& names_;
  const ModelConfig& config_;
  std::set<std::string> used_;
};

// Rows of a head as the converter wrote them, pair after pair (0, D/2), (1, D/2 + 1) ..., back to
// first members, then second members: D = 8, 0 4 1 5 2 6 3 7 -> 0 1 2 3 4 5 6 7.
void undo_permutation_(at::Tensor& rows, int64_t n_heads, int64_t head_dim) {
  at::Tensor part = rows.narrow(0, 0, n_heads * head_dim);
  part.copy_(part.view({n_heads, head_dim / 2, 2, -1}).transpose(1, 2).reshape(part.sizes()));
}

}  // namespace

CheckpointWeights::CheckpointWeights(std::unique_ptr<TensorStore> store, const TensorNames& names,
                                     const Family& family, const ModelConfig& config,
                                     const StoredBiases& biases, at::ScalarType dtype)
    : store_(std::move(store)), dtype_(dtype), head_dim_(config.head_dim) {
  RecipeBook book(*store_, names, config);
  for (const ParameterShape& shape : parameter_shapes(config)) {
    const Place place = place_of(shape.name);
    Recipe recipe{.parts = {}, .sizes = shape.sizes};
    if (place.end == "weight" || biased(place.what, biases)) {
      recipe.parts = book.parts(shape, place);
    }
    if (place.what == "attention.qkv" && names.is_gguf() && family.gguf_permuted) {
      recipe.permuted_heads = config.heads + config.n_kv_heads();
    }
    recipe.add_one = family.unit_offset && !names.is_gguf() && place.what.ends_with("norm");
    recipes_.emplace(shape.name, std::move(recipe));
  }
  book.check_rest(family.name);
}

at::Tensor CheckpointWeights::load(const std::string& name) {
  const auto found = recipes_.find(name);
  TORCH_CHECK_VALUE(found != recipes_.end(), "checkpoint: no parameter '", name, "'");
  const Recipe& recipe = found->second;
  const at::ScalarType dtype = recipe.sizes.size() == 2 ? dtype_ : at::kFloat;
  if (recipe.parts.empty()) {
    return at::zeros(recipe.sizes, dtype);
  }
  if (recipe.parts.size() == 1 && recipe.permuted_heads == 0 && !recipe.add_one) {
    return store_->load(recipe.parts.front(), dtype);
  }
  at::Tensor out = at::empty(recipe.sizes, dtype);
  int64_t row = 0;
  for (const std::string& part : recipe.parts) {
    const int64_t n_rows = store_->find(part)->sizes.at(0);
    store_->load_into(part, out.narrow(0, row, n_rows));
    row += n_rows;
  }
  if (recipe.permuted_heads > 0) {
    undo_permutation_(out, recipe.permuted_heads, head_dim_);
  }
  if (recipe.add_one) {
    out.add_(1.0);
  }
  return out;
}

}  // namespace gyre::model

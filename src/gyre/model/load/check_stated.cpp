#include "gyre/model/load/check_stated.h"

#include <algorithm>
#include <cctype>

#include "gyre/base/error.h"
#include "gyre/tensor/header_text.h"

namespace gyre::model {
namespace {

using inspect::RawKey;
using inspect::RawType;

/// How each format spells a size.
struct Spelling {
  const char *width, *heads, *kv_heads, *head_dim, *norm_eps;
};
constexpr Spelling kHuggingFace{"hidden_size", "num_attention_heads", "num_key_value_heads",
                                "head_dim", "rms_norm_eps"};
constexpr Spelling kGguf{"embedding_length", "attention.head_count", "attention.head_count_kv",
                         "attention.key_length", "attention.layer_norm_rms_epsilon"};

class Stated {
 public:
  Stated(const ConfigKeys& keys, const ModelConfig& config, const StoredSizes& stored)
      : keys_(keys), config_(config), stored_(stored), names_(keys.gguf() ? kGguf : kHuggingFace) {}

  void check_heads() const {
    const int64_t heads = config_.heads, kv_heads = config_.n_kv_heads(), D = config_.head_dim;
    const std::string heads_text = str(keys_.full(names_.heads), " ", heads);
    const std::string width_text = str(keys_.full(names_.width), " ", config_.width);
    if (heads % kv_heads != 0) {
      fail(heads_text, " over ", keys_.full(names_.kv_heads), " ", kv_heads, " is no whole ratio");
    }
    const RawKey* given = keys_.find(names_.head_dim);
    const bool derived = given == nullptr || given->type == RawType::Null;
    if (derived && config_.width % heads != 0 && D == config_.width / heads) {
      fail(width_text, " is no multiple of ", heads_text, ", and ", keys_.full(names_.head_dim),
           " is not given");
    }
    if (D % 2 != 0) {
      fail(derived ? str(width_text, " over ", heads_text, " is a head dim of ")
                   : keys_.full(names_.head_dim) + " is ",
           D, ", expected an even number");
    }
  }

  void check_eps() const {
    if (!(config_.norm_eps > 0)) {
      keys_.wrong(*keys_.find(names_.norm_eps), "above 0");
    }
  }

  /// Sizes that are read off the tensors, for which nothing else would notice the key.
  void check_tensor_sizes() const {
    const std::string embedding = str("the embedding has ", stored_.embedding_rows, " rows");
    same("feed_forward_length", stored_.down_columns,
         str("tensor ", stored_.down, " has ", stored_.down_columns, " columns"));
    same("vocab_size", stored_.embedding_rows, embedding);
    if (stored_.n_tokens >= 0 && stored_.n_tokens != stored_.embedding_rows) {
      fail("tokenizer.ggml.tokens has ", stored_.n_tokens, " entries, ", embedding);
    }
    if (const RawKey* key = keys_.find("context_length"); key != nullptr && !(key->number >= 1)) {
      keys_.wrong(*key, "at least 1");
    }
  }

  void check_rotated() const {
    const RawKey* key = keys_.find("rope.dimension_count");
    if (key == nullptr) {
      return;
    }
    if (!(key->number >= 2)) {
      keys_.wrong(*key, "an even number of at least 2");
    }
    if (stored_.whole_heads && key->number != static_cast<double>(config_.head_dim)) {
      keys_.wrong(*key, str("the head dim ", config_.head_dim,
                            ", as this architecture's q and k are stored in an order of whole "
                            "heads"));
    }
  }

 private:
  template <class... T>
  [[noreturn]] void fail(const T&... parts) const {
    throw Error(Code::Format, keys_.owner(), ": ", parts...);
  }

  /// A number, or one per layer.
  void same(const std::string& name, int64_t stored, const std::string& found) const {
    const RawKey* key = keys_.find(name);
    if (key == nullptr) {
      return;
    }
    const auto wanted = static_cast<double>(stored);
    const bool fits = key->type == RawType::List
                          ? std::all_of(key->numbers.begin(), key->numbers.end(),
                                        [&](double each) { return each == wanted; })
                          : key->type == RawType::Number && key->number == wanted;
    if (!fits) {
      fail(key->path, " is ", tensor::printable(key->text), ", ", found);
    }
  }

  const ConfigKeys& keys_;
  const ModelConfig& config_;
  const StoredSizes& stored_;
  const Spelling& names_;
};

/// "gemma3_text" and "Gemma3ForCausalLM" -> "gemma3text", "gemma3forcausallm".
std::string letters_of(const std::string& name) {
  std::string out;
  for (const char c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
      out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
  }
  return out;
}

/// The family whose type begins the class's name; the longest counts, and Gemma2 is no Gemma.
const Family* family_of_class(const std::string& name) {
  const std::string letters = letters_of(name) + " ";
  const Family* found = nullptr;
  size_t longest = 0;
  for (const Family& family : families()) {
    for (const std::string& type : family.model_types) {
      const std::string own = letters_of(type);
      if (letters.starts_with(own) && own.size() > longest &&
          std::isdigit(static_cast<unsigned char>(letters[own.size()])) == 0) {
        found = &family;
        longest = own.size();
      }
    }
  }
  return found;
}

/// Whether the same tensors make the same model.
bool alike(const Family& a, const Family& b) {
  return a.unit_offset == b.unit_offset && a.scaled_embedding == b.scaled_embedding &&
         a.qk_norm == b.qk_norm && a.post_norm == b.post_norm && a.qkv_bias == b.qkv_bias &&
         a.query_scale == b.query_scale && a.logit_cap == b.logit_cap && a.score_cap == b.score_cap;
}

}  // namespace

void check_stated(const ConfigKeys& keys, const ModelConfig& config, const StoredSizes& stored) {
  const Stated stated(keys, config, stored);
  stated.check_heads();
  stated.check_eps();
  if (keys.gguf()) {
    stated.check_tensor_sizes();
    stated.check_rotated();
  }
}

void check_class(const ConfigKeys& keys, const Family& family) {
  const RawKey* classes = keys.gguf() ? nullptr : keys.find("architectures");
  if (classes == nullptr) {
    return;
  }
  for (const std::string& name : classes->texts) {
    const Family* other = family_of_class(name);
    if (other != nullptr && other != &family && !alike(*other, family)) {
      throw Error(Code::Format, keys.owner(), ": model_type says ", family.name,
                  ", architectures says ", tensor::printable(name),
                  "; restore the config.json of these weights");
    }
  }
}

}  // namespace gyre::model

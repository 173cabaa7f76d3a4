#include "gyre/inspect/encoding.h"

#include <algorithm>
#include <string>

#include "gyre/base/error.h"

namespace gyre::inspect {
namespace {

Encoding encoding_named(const std::string& name) {
  if (name == "rope" || name == "rotary") {
    return Encoding::Rotary;
  }
  if (name == "absolute" || name == "learned") {
    return Encoding::Learned;
  }
  if (name == "alibi") {
    return Encoding::Alibi;
  }
  return name == "nope" || name == "none" ? Encoding::None : Encoding::Unknown;
}

// Does any key of the file, whoever reads it, speak of rotation?
bool names_rotation(const ConfigReader& config) {
  const auto names = config.members("");
  return std::any_of(names.begin(), names.end(), [](const std::string& name) {
    return name.find("rope") != std::string::npos || name.find("rotary") != std::string::npos;
  });
}

// Buckets or embeddings of distances: T5, DeBERTa.
bool shows_relative(const ConfigReader& config) {
  return config.has("relative_attention") || config.has("relative_attention_num_buckets") ||
         config.has("pos_att_type");
}

// GPT-2's names for length and width; Whisper's and BART's for the rows of the decoder's table.
bool shows_learned(const ConfigReader& config) {
  return (config.has("n_positions") && config.has("n_embd") && config.has("n_ctx")) ||
         config.has("max_target_positions");
}

Encoding by_alibi_key(ConfigReader& config, std::vector<Provenance>& origins) {
  const Architecture& rules = config.rules();
  const auto on = config.flag_if(rules.alibi_key);
  const bool alibi = on.has_value() ? on->value : rules.alibi_default;
  if (on.has_value() || config.known_type()) {
    origins.push_back(
        {"ALiBi", alibi ? "true" : "false", on.has_value() ? on->origin : config.default_origin()});
  }
  return alibi ? Encoding::Alibi : rules.encoding;
}

}  // namespace

Encoding choose_encoding(ConfigReader& config, const ModelSizes& sizes,
                         std::vector<Provenance>& origins) {
  const Architecture& rules = config.rules();
  Encoding encoding = rules.alibi_key.empty() ? rules.encoding : by_alibi_key(config, origins);
  if (rules.alibi_hidden > 0 && sizes.hidden == rules.alibi_hidden) {
    encoding = Encoding::Alibi;
    origins.push_back({"ALiBi", "true", {OriginKind::Derived, str("hidden size ", sizes.hidden)}});
  }
  const auto rotary = config.flag_if(rules.rotary_key);
  if (rotary.has_value() && rotary->value) {
    encoding = Encoding::Rotary;
    origins.push_back({"rotation", "true", rotary->origin});
  }
  if (const RawKey* named = config.text_if(rules.encoding_key); named != nullptr) {
    origins.push_back({"position encoding", named->text, {OriginKind::Key, named->path}});
    return encoding_named(named->text);
  }
  if (config.known_type() || encoding != Encoding::Rotary || names_rotation(config)) {
    return encoding;
  }
  if (!shows_learned(config) || shows_relative(config)) {
    return Encoding::Unknown;
  }
  origins.push_back({"position encoding",
                     "learned",
                     {OriginKind::Assumed, "names of sizes as in GPT-2 and no key of rotation"}});
  return Encoding::Learned;
}

bool shows_encoder(ConfigReader& config) {
  const RawKey* classes = config.list_if("architectures");
  const bool masked =
      classes != nullptr &&
      std::any_of(classes->texts.begin(), classes->texts.end(), [](const std::string& name) {
        return name.find("MaskedLM") != std::string::npos ||
               name.find("ImageClassification") != std::string::npos ||
               name.find("Encoder") != std::string::npos;
      });
  return masked || shows_relative(config) || config.has("type_vocab_size") ||
         config.has("encoder_layers") || config.has("max_source_positions") ||
         (config.has("image_size") && config.has("patch_size"));
}

}  // namespace gyre::inspect

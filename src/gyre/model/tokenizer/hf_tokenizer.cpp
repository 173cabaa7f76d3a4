// tokenizer.json (Hugging Face `tokenizers`), models of type BPE: vocabulary, merges, added tokens
// and what the post-processor puts around a text.
#include "gyre/model/tokenizer/hf_tokenizer.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "gyre/base/error.h"
#include "gyre/base/json_words.h"
#include "gyre/model/tokenizer/byte_level.h"
#include "gyre/model/tokenizer/hf_parts.h"
#include "gyre/model/tokenizer/pipeline.h"
#include "gyre/tensor/header_text.h"

namespace gyre::model {
namespace {

using Json = nlohmann::json;
using tensor::printable;

// No vocabulary is near the first or skips as many ids as the second; they bound what is allocated.
constexpr int64_t kMaxIds = int64_t{1} << 24U, kMaxGap = int64_t{1} << 17U;

using Ids = std::unordered_map<std::string, int32_t>;

int32_t checked_id(const Json& id, const std::string& token) {
  const auto value = id.get<int64_t>();
  if (value < 0 || value >= kMaxIds) {
    throw Error(Code::Format, "token '", printable(token), "' has id ", value, ", outside [0, ",
                kMaxIds, ")");
  }
  return static_cast<int32_t>(value);
}

Ids read_vocabulary(const Json& model) {
  Ids ids;
  const Json& vocab = model.at("vocab");
  if (!vocab.is_object()) {
    throw Error(Code::Format, "'model.vocab' is no object of token: id");
  }
  ids.reserve(vocab.size() * 2);
  for (const auto& [token, id] : vocab.items()) {
    ids.emplace(token, checked_id(id, token));
  }
  return ids;
}

/// Texts and pieces are kept by id: few tokens with huge ids would take memory for nothing.
void check_gaps(const Ids& vocabulary, const Json& added) {
  const auto n = static_cast<int64_t>(vocabulary.size() + added.size());
  const auto check = [&](int64_t id, const std::string& token) {
    if (id >= n + kMaxGap) {
      throw Error(Code::Format, "token '", printable(token), "' has id ", id, ", the file has ", n,
                  " tokens");
    }
  };
  for (const auto& [token, id] : vocabulary) {
    check(id, token);
  }
  for (const Json& each : added) {
    const auto token = each.at("content").get<std::string>();
    check(checked_id(each.at("id"), token), token);
  }
}

std::pair<std::string, std::string> read_merge(const Json& merge, size_t i) {
  if (merge.is_array() && merge.size() == 2) {
    return {merge[0].get<std::string>(), merge[1].get<std::string>()};
  }
  const std::string text = merge.is_string() ? merge.get<std::string>() : merge.dump();
  const size_t space = text.find(' ');
  if (!merge.is_string() || space == std::string::npos ||
      text.find(' ', space + 1) != std::string::npos) {
    throw Error(Code::Format, "merge ", i, " is '", printable(text),
                "', not two tokens with a space between");
  }
  return {text.substr(0, space), text.substr(space + 1)};
}

std::vector<MergeRule> read_merges(const Json& model, const Ids& ids) {
  std::vector<MergeRule> rules;
  const Json& merges = model.at("merges");
  rules.reserve(merges.size());
  const auto id_of = [&](const std::string& token, size_t i) {
    const auto found = ids.find(token);
    if (found == ids.end()) {
      throw Error(Code::Format, "merge ", i, " uses '", printable(token),
                  "', which is not in the vocabulary");
    }
    return found->second;
  };
  for (size_t i = 0; i < merges.size(); ++i) {
    const auto [left, right] = read_merge(merges[i], i);
    rules.push_back(
        {id_of(left, i), id_of(right, i), static_cast<int32_t>(i), id_of(left + right, i)});
  }
  return rules;
}

void check_model(const Json& model) {
  const std::string type = model.value("type", model.contains("merges") ? "BPE" : "none");
  if (type != "BPE") {
    throw Error(Code::Format, "model of type '", printable(type), "' is not supported; known: BPE");
  }
  for (const char* key : {"continuing_subword_prefix", "end_of_word_suffix"}) {
    if (model.contains(key) && !model.at(key).is_null() && model.at(key) != "") {
      throw Error(Code::Format, "model: '", key, "' is ", printable(model.at(key).dump()),
                  ", which is not supported");
    }
  }
  if (model.contains("dropout") && !model.at("dropout").is_null() && model.at("dropout") != 0.0) {
    throw Error(Code::Format, "model: 'dropout' is ", printable(model.at("dropout").dump()),
                ": ids would be random");
  }
}

template <class T>
T value_or(const Json& json, const char* key, T fallback) {
  return json.contains(key) && !json.at(key).is_null() ? json.at(key).get<T>() : fallback;
}

BpeParts read_model(const Json& model, const Ids& ids, size_t n_ids, bool byte_level) {
  BpeParts parts;
  parts.n_ids = n_ids;
  parts.texts.resize(n_ids);
  parts.byte_ids.fill(-1);
  parts.bytes = byte_level;
  parts.byte_fallback = value_or(model, "byte_fallback", false);
  parts.whole_first = value_or(model, "ignore_merges", false);
  parts.fuse_unknown = value_or(model, "fuse_unk", false);
  for (const auto& [token, id] : ids) {
    const auto byte = fallback_byte(token);
    std::string text = byte_level ? bytes_of_level(token).value_or("") : token;
    if (byte_level && text.size() == 1) {
      parts.byte_ids[static_cast<unsigned char>(text[0])] = id;
    } else if (!byte_level && parts.byte_fallback && byte) {
      parts.byte_ids[static_cast<size_t>(*byte)] = id;
      text.clear();
    }
    parts.texts[static_cast<size_t>(id)] = std::move(text);
  }
  if (const auto unknown = value_or(model, "unk_token", std::string()); !unknown.empty()) {
    const auto found = ids.find(unknown);
    if (found == ids.end()) {
      throw Error(Code::Format, "'unk_token' ", printable(unknown), " is not in the vocabulary");
    }
    parts.unknown = found->second;
  }
  parts.rules = read_merges(model, ids);
  return parts;
}

struct Added {
  std::vector<AddedToken> raw, normalized;
};

Added read_added(const Json& json, const std::vector<NormalStep>& normalizer) {
  Added added;
  for (const Json& each : json) {
    AddedToken token;
    token.content = each.at("content").get<std::string>();
    token.id = checked_id(each.at("id"), token.content);
    token.special = value_or(each, "special", false);
    token.normalized = value_or(each, "normalized", !token.special);
    token.single_word = value_or(each, "single_word", false);
    token.lstrip = value_or(each, "lstrip", false);
    token.rstrip = value_or(each, "rstrip", false);
    (token.normalized ? added.normalized : added.raw).push_back(std::move(token));
  }
  // What is looked for in normalised text is normalised itself.
  for (AddedToken& token : added.normalized) {
    std::string storage;
    token.content = std::string(normalize(normalizer, token.content, storage));
  }
  return added;
}

/// Ids that the template puts before and after the text.
void read_template(const Json& json, std::vector<int64_t>& before, std::vector<int64_t>& after) {
  bool passed = false;
  for (const Json& item : json.at("single")) {
    if (item.contains("Sequence")) {
      passed = true;
      continue;
    }
    const auto name = item.at("SpecialToken").at("id").get<std::string>();
    for (const Json& id : json.at("special_tokens").at(name).at("ids")) {
      (passed ? after : before).push_back(checked_id(id, name));
    }
  }
}

void read_post_processor(const Json& json, SpecialIds& ids) {
  if (json.is_null()) {
    return;
  }
  const std::string type = json.at("type").get<std::string>();
  if (type == "Sequence") {
    for (const Json& each : json.at("processors")) {
      read_post_processor(each, ids);
    }
    return;
  }
  if (type == "ByteLevel") {  // trims offsets, no ids
    return;
  }
  if (type != "TemplateProcessing") {
    throw Error(Code::Format, "post_processor of type '", printable(type),
                "' is not supported; known: ByteLevel, Sequence, TemplateProcessing");
  }
  std::vector<int64_t> before;
  std::vector<int64_t> after;
  read_template(json, before, after);
  if (before.size() > 1 || after.size() > 1) {
    throw Error(Code::Format, "post_processor puts ", before.size(), " tokens before a text and ",
                after.size(), " after it; at most one each is supported");
  }
  if (!before.empty()) {
    ids.bos = before[0];
    ids.add_bos = true;
  }
  if (!after.empty()) {
    ids.eos = after;
    ids.add_eos = true;
  }
}

std::string section(const Json& json, const char* name) {
  return json.contains(name) ? json.at(name).dump() : "null";
}

void set_pieces(const Ids& vocabulary, const Added& added, const DecoderPart& decoder, size_t n_ids,
                Pipeline& pipeline) {
  pipeline.pieces.resize(n_ids);
  pipeline.special.assign(n_ids, false);
  for (const auto& [token, id] : vocabulary) {
    pipeline.pieces[static_cast<size_t>(id)] = decoded_piece(decoder, token);
  }
  for (const auto* list : {&added.raw, &added.normalized}) {
    for (const AddedToken& token : *list) {
      const auto id = static_cast<size_t>(token.id);
      pipeline.pieces[id] = decoded_piece(decoder, token.content);
      pipeline.special[id] = token.special;
    }
  }
  pipeline.strip_spaces = decoder.strip_spaces;
}

std::string serialized(const std::string& source, const SpecialIds& ids) {
  return nlohmann::ordered_json{
      {"schema", "gyre.tokenizer/1"},
      {"kind", "tokenizer.json"},
      {"special",
       {{"bos", ids.bos}, {"eos", ids.eos}, {"add_bos", ids.add_bos}, {"add_eos", ids.add_eos}}},
      {"source", source}}
      .dump();
}

}  // namespace

std::unique_ptr<Tokenizer> hf_tokenizer(const std::string& source, const SideFiles& side,
                                        const std::optional<SpecialIds>& known) {
  check_json_depth(source);
  const Json json = Json::parse(source);
  if (!json.is_object() || !json.contains("model")) {
    throw Error(Code::Format,
                "not a tokenizer file (expected schema gyre.tokenizer/1, or a tokenizer.json with "
                "'model')");
  }
  const Json& model = json.at("model");
  check_model(model);
  const Json none = Json::array();
  const Json& added_json = json.contains("added_tokens") ? json.at("added_tokens") : none;
  const Ids vocabulary = read_vocabulary(model);
  size_t n_ids = 0;
  for (const auto& [token, id] : vocabulary) {
    n_ids = std::max(n_ids, static_cast<size_t>(id) + 1);
  }
  check_gaps(vocabulary, added_json);
  Pipeline pipeline;
  pipeline.kind = "tokenizer.json";
  pipeline.normalizer = read_normalizer(section(json, "normalizer"));
  Added added = read_added(added_json, pipeline.normalizer);
  std::unordered_map<std::string, int64_t> added_ids;
  for (const Json& each : added_json) {
    n_ids = std::max(n_ids, each.at("id").get<size_t>() + 1);
    added_ids[each.at("content").get<std::string>()] = each.at("id").get<int64_t>();
  }
  set_pieces(vocabulary, added, read_decoder(section(json, "decoder")), n_ids, pipeline);
  pipeline.added = AddedTokens(std::move(added.raw));
  pipeline.added_normalized = AddedTokens(std::move(added.normalized));
  PreTokenizerPart pre = read_pre_tokenizer(section(json, "pre_tokenizer"));
  pipeline.pre_tokenizer = PreTokenizer(std::move(pre.steps));
  pipeline.model = BpeModel(read_model(model, vocabulary, n_ids, pre.byte_level));
  read_post_processor(json.value("post_processor", Json()), pipeline.ids);
  read_side_files(
      side,
      [&](const std::string& token) -> int64_t {
        const auto as_added = added_ids.find(token);
        const auto found = vocabulary.find(token);
        return as_added != added_ids.end() ? as_added->second
               : found != vocabulary.end() ? found->second
                                           : -1;
      },
      pipeline.ids);
  pipeline.ids = known.value_or(pipeline.ids);
  pipeline.serialize = [source, ids = pipeline.ids] { return serialized(source, ids); };
  return pipeline_tokenizer(std::move(pipeline));
}

}  // namespace gyre::model

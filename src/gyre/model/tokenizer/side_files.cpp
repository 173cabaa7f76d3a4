// tokenizer_config.json, generation_config.json and config.json: which ids begin and end a text.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "gyre/model/tokenizer/hf_tokenizer.h"

namespace gyre::model {
namespace {

using Json = nlohmann::json;

Json object_of(const std::string& text) {
  const Json json = Json::parse(text, nullptr, false);
  return json.is_object() ? json : Json::object();
}

/// A token given by its text, plain or as {"content": text}.
int64_t token_id(const Json& json, const char* key,
                 const std::function<int64_t(const std::string&)>& id_of) {
  const Json token = json.value(key, Json());
  if (token.is_string()) {
    return id_of(token.get<std::string>());
  }
  const Json content = token.is_object() ? token.value("content", Json()) : Json();
  return content.is_string() ? id_of(content.get<std::string>()) : -1;
}

/// An id, or several.
std::vector<int64_t> ids_of(const Json& json, const char* key) {
  const Json value = json.value(key, Json());
  std::vector<int64_t> ids;
  for (const Json& each : value.is_array() ? value : Json::array({value})) {
    if (each.is_number_integer()) {
      ids.push_back(each.get<int64_t>());
    }
  }
  return ids;
}

void add_eos(int64_t id, SpecialIds& ids) {
  if (id >= 0 && std::find(ids.eos.begin(), ids.eos.end(), id) == ids.eos.end()) {
    ids.eos.push_back(id);
  }
}

}  // namespace

void read_side_files(const SideFiles& side, const std::function<int64_t(const std::string&)>& id_of,
                     SpecialIds& ids) {
  const Json tokens = object_of(side.tokenizer_config);
  const Json generation = object_of(side.generation_config);
  const Json config = object_of(side.config);
  const bool says_bos = tokens.contains("bos_token");
  if (const int64_t bos = token_id(tokens, "bos_token", id_of); bos >= 0) {
    ids.bos = bos;
  }
  for (const Json* file : {&generation, &config}) {
    const std::vector<int64_t> bos = ids_of(*file, "bos_token_id");
    if (ids.bos < 0 && !says_bos && !bos.empty()) {  // Qwen: "bos_token": null is an answer too
      ids.bos = bos[0];
    }
  }
  add_eos(token_id(tokens, "eos_token", id_of), ids);
  for (const Json* file : {&generation, &config}) {
    for (const int64_t id : ids_of(*file, "eos_token_id")) {
      add_eos(id, ids);
    }
  }
  const auto flag = [&](const char* key, bool& value) {
    if (const Json said = tokens.value(key, Json()); said.is_boolean()) {
      value = said.get<bool>();
    }
  };
  flag("add_bos_token", ids.add_bos);
  flag("add_eos_token", ids.add_eos);
}

}  // namespace gyre::model

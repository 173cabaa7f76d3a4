// manifest.json to and from RunManifest: one list of fields serves both directions.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <type_traits>

#include "gyre/base/error.h"
#include "gyre/train/run_dir.h"

namespace gyre::train {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kSchema = "gyre.manifest/1";

/// Calls v(key, member) for every plain field.
template <class Manifest, class V>
void plain_fields(Manifest& m, V&& v) {
  v("train_length", m.train_length);
  v("scheme", m.scheme);
  v("mask", m.mask);
  v("params", m.params);
  v("alpha_params", m.alpha_params);
  v("tokenizer_kind", m.tokenizer_kind);
  v("tokenizer_hash", m.tokenizer_hash);
  v("corpus_hash", m.corpus_hash);
  v("truncation_policy", m.truncation_policy);
  v("seed", m.seed);
  v("batch", m.batch);
  v("tokens", m.tokens);
  v("build_revision", m.build_revision);
  v("machine", m.machine);
  v("threads", m.threads);
  v("dtype", m.dtype);
}

Json to_json(const RunManifest& manifest) {
  RunManifest copy = manifest;  // field handles need non-const structs
  Json out = {{"schema", kSchema}};
  plain_fields(copy, [&](const char* key, const auto& value) { out[key] = value; });
  out["plan"] = Json::parse(position::plan_to_json(copy.plan));
  out["model"] = Json::parse(fields_to_json(fields_of(copy.model)));
  out["data"] = Json::parse(fields_to_json(fields_of(copy.data)));
  return out;
}

const Json& field(const Json& object, const std::string& key, const std::string& owner) {
  if (!object.contains(key)) {
    throw Error(Code::Format, owner, ": field '", key, "' is missing");
  }
  return object.at(key);
}

template <class T>
void read(const Json& object, const std::string& key, T& value, const std::string& owner) {
  const Json& found = field(object, key, owner);
  const bool fits = std::is_same_v<T, std::string> ? found.is_string() : found.is_number_integer();
  if (!fits) {
    throw Error(Code::Format, owner, ": field '", key, "' has the wrong type: ", found.dump());
  }
  value = found.get<T>();
}

void read_options(const Json& object, const char* key, Fields fields, const std::string& owner) {
  const Json& group = field(object, key, owner);
  for (const Field& each : fields) {
    field(group, each.name, owner + ": " + key);
  }
  fields_from_json(fields, owner + ": " + key, group.dump());
}

/// Path of the first difference between two JSON values, or "".
std::string first_difference(const Json& a, const Json& b, const std::string& path) {
  if (a == b) {
    return "";
  }
  if (a.is_object() && b.is_object()) {
    for (const auto& [key, value] : a.items()) {
      const std::string inner = path.empty() ? key : path + "." + key;
      const std::string found = b.contains(key) ? first_difference(value, b.at(key), inner) : inner;
      if (!found.empty()) {
        return found;
      }
    }
  }
  return path;
}

}  // namespace

std::string manifest_to_json(const RunManifest& manifest) {
  return to_json(manifest).dump(1);
}

RunManifest manifest_from_json(const std::string& text, const std::string& owner) {
  const Json object = Json::parse(text, nullptr, false);
  if (!object.is_object()) {
    throw Error(Code::Format, owner, ": not a JSON object; expected a run's manifest");
  }
  std::string schema;
  read(object, "schema", schema, owner);
  if (schema != kSchema) {
    throw Error(Code::Format, owner, ": schema is ", schema, ", expected ", kSchema);
  }
  RunManifest out;
  plain_fields(out, [&](const char* key, auto& value) { read(object, key, value, owner); });
  out.plan = position::plan_from_json(field(object, "plan", owner).dump(), owner + ": plan");
  read_options(object, "model", fields_of(out.model), owner);
  read_options(object, "data", fields_of(out.data), owner);
  return out;
}

void check_same_manifest(const RunManifest& expected, const RunManifest& found,
                         const std::string& owner) {
  const Json a = to_json(expected), b = to_json(found);
  const std::string path = first_difference(a, b, "");
  if (!path.empty()) {
    const Json::json_pointer pointer("/" + [&] {
      std::string out = path;
      std::replace(out.begin(), out.end(), '.', '/');
      return out;
    }());
    throw Error(Code::Format, owner, ": field '", path, "' is ", b.value(pointer, Json()).dump(),
                ", the checkpoint was written with ", a.value(pointer, Json()).dump());
  }
}

}  // namespace gyre::train

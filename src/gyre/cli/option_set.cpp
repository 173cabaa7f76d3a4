#include "gyre/cli/option_set.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>

#include "gyre/base/error.h"
#include "gyre/base/files.h"

namespace gyre::cli {
namespace {

using Json = nlohmann::ordered_json;

std::string text_of(const Json& value) {
  if (value.is_string()) {
    return value.get<std::string>();
  }
  if (!value.is_array()) {
    return value.dump();
  }
  std::string out = "[";
  for (const Json& item : value) {
    out += (out.size() > 1 ? "," : "") + text_of(item);
  }
  return out + "]";
}

}  // namespace

void OptionSet::add(CLI::App& app, const std::string& group, Fields fields) {
  for (Field& field : fields) {
    auto entry = std::make_unique<Entry>();
    entry->group = group;
    entry->field = std::move(field);
    Entry* e = entries_.emplace_back(std::move(entry)).get();
    const std::string fallback = e->field.get();
    CLI::Option* option = nullptr;
    if (e->field.kind == FieldKind::Bool) {
      option = app.add_flag_function(
          "--" + e->field.name + ",!--no-" + e->field.name,
          [e](int64_t count) { e->flag_text = count > 0 ? "true" : "false"; }, e->field.help);
    } else {
      option = app.add_option("--" + e->field.name, e->flag_text, e->field.help);
      option->type_name("");
    }
    const bool bracketed = e->field.kind == FieldKind::List;  // a list brings its own
    option->description(e->field.help + (fallback.empty() || fallback == "[]" ? ""
                                         : bracketed                          ? " " + fallback
                                                     : " [" + fallback + "]"));
    option->group(group);
    if (e->field.kind == FieldKind::List) {
      option->multi_option_policy(CLI::MultiOptionPolicy::Join)->delimiter(',')->allow_extra_args();
    }
  }
}

void OptionSet::apply_flags() {
  for (const auto& entry : entries_) {
    if (entry->flag_text.empty()) {
      continue;
    }
    std::string text = entry->flag_text;
    std::replace(text.begin(), text.end(), '\n', ',');  // CLI11 joins repeated values with newlines
    try {
      entry->field.set(text);
    } catch (const Error& error) {
      throw Error(Code::Usage, "--", entry->field.name, " ", error.what());
    }
    entry->origin = "flag";
    entry->from_flag = true;
  }
}

void OptionSet::apply_file(const std::string& path) {
  const Json file = Json::parse(read_file(path), nullptr, false);
  if (!file.is_object()) {
    throw Error(Code::Format, path, ": not a JSON object; expected a run's config.json");
  }
  const Json& groups = file.contains("options") ? file.at("options") : file;
  for (const auto& [group, values] : groups.items()) {
    for (const auto& [name, value] : values.items()) {
      Entry* entry = find(name);
      if (entry == nullptr) {
        std::vector<std::string> known;
        for (const auto& e : entries_) {
          known.push_back(e->field.name);
        }
        throw Error(Code::Format, path, ": unknown option '", name, "' in '", group,
                    "'; nearest: ", nearest_name(name, known));
      }
      const bool wrapped = value.is_object() && value.contains("value");
      entry->field.set(text_of(wrapped ? value.at("value") : value));
      entry->origin = "file";
    }
  }
}

void OptionSet::set(const std::string& name, const std::string& value, const std::string& origin) {
  Entry* entry = find(name);
  if (entry == nullptr) {
    throw Error(Code::Internal, "no option named ", name);
  }
  if (!given(name)) {
    entry->field.set(value);
    entry->origin = origin;
  }
}

bool OptionSet::given(const std::string& name) const {
  for (const auto& entry : entries_) {
    if (entry->field.name == name) {
      return !entry->flag_text.empty() || entry->origin == "file";
    }
  }
  return false;
}

std::string OptionSet::to_json() const {
  Json groups = Json::object();
  for (const auto& entry : entries_) {
    const Json value = Json::parse(fields_to_json({entry->field})).at(entry->field.name);
    groups[entry->group][entry->field.name] = {{"value", value}, {"origin", entry->origin}};
  }
  return groups.dump(1);
}

std::string OptionSet::describe() const {
  std::string out;
  for (const auto& entry : entries_) {
    out += str(entry->group, ".", entry->field.name, " = ", entry->field.get(), "  (",
               entry->origin, ")\n");
  }
  return out;
}

OptionSet::Entry* OptionSet::find(const std::string& name) {
  for (const auto& entry : entries_) {
    if (entry->field.name == name) {
      return entry.get();
    }
  }
  return nullptr;
}

}  // namespace gyre::cli

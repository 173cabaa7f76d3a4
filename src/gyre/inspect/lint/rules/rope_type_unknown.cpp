// A rope type that no reader knows.
#include "gyre/inspect/lint/view.h"

namespace gyre::inspect {
namespace {

std::string known_types() {
  std::string out;
  for (const std::string& one : rope_types()) {
    out += (out.empty() ? "" : ", ") + one;
  }
  return out;
}

std::vector<Finding> check(const ResolvedModel& model) {
  // Read by vLLM or by code that comes with the model.
  static const std::vector<std::string> kElsewhere = {"ntk", "deepseek_llama_scaling", "axial"};
  std::vector<Finding> found;
  const bool own_code =
      text_key(model, "auto_map") != nullptr || model.raw.has("auto_map.AutoConfig");
  for (const RopeBlock& block : rope_blocks(model)) {
    for (const char* name : {"rope_type", "type"}) {
      const RawKey* key = block.find(name);
      if (key == nullptr) {
        continue;
      }
      if (key->type != RawType::Text) {
        found.push_back(error(block.at(name), key->text, "a name",
                              str("rope type must be a name in quotes, found ", key->text)));
        continue;
      }
      const std::string type = canonical_type(key->text);
      const auto known = [&type](const std::string& one) { return one == type; };
      if (std::any_of(rope_types().begin(), rope_types().end(), known) ||
          std::any_of(kElsewhere.begin(), kElsewhere.end(), known)) {
        continue;
      }
      std::string near;
      for (const std::string& one : rope_types()) {
        near = near.empty() && is_near(type, one) ? one : near;
      }
      const std::string tail = near.empty() ? str("; transformers reads ", known_types())
                                            : "; did you mean '" + near + "'?";
      // Code that comes with the model may have types of its own.
      const bool mild = own_code || (near.empty() && !model.known_type);
      found.push_back((mild ? warning : error)(block.at(name), key->text, near,
                                               str("unknown rope type '", key->text, "'", tail)));
    }
  }
  return found;
}

}  // namespace

Rule rope_type_unknown_rule() {
  return {"rope-type-unknown",
          Severity::Error,
          "Readers either stop at an unknown rope type or fall back on plain rotation with at "
          "most a line in the log, so the scaling is lost.",
          "Write one of default, linear, dynamic, yarn, longrope, llama3, proportional, in "
          "lower case.",
          "transformers 5.18 accepts \"yarm\" with a log line (measured); "
          "modeling_rope_utils.py",
          check};
}

}  // namespace gyre::inspect

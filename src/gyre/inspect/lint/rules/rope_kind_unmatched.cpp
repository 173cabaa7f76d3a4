// Rope blocks per layer kind against the kinds that layers have.
#include <algorithm>
#include <set>

#include "gyre/inspect/lint/view.h"

namespace gyre::inspect {
namespace {

bool is_standard(const std::string& kind) {
  return kind == "full_attention" || kind == "sliding_attention" || kind == "chunked_attention";
}

// Without layer_types the class decides which kinds there are; resolution marks what it read.
std::vector<Finding> check_unread(const ResolvedModel& model) {
  std::vector<Finding> found;
  for (const RopeBlock& block : rope_blocks(model)) {
    const bool read = std::any_of(block.keys.begin(), block.keys.end(),
                                  [](const RawKey* key) { return key->used; });
    if (block.kind.empty() || read || block.keys.empty() || model.kinds.empty()) {
      continue;
    }
    if (!block.parameters) {
      found.push_back((model.known_type ? error : warning)(
          block.path, block.kind, "rope_parameters",
          str("rope_scaling has no parts by layer kind, so the settings in ", block.path,
              " are not read; write them into rope_scaling itself, or into rope_parameters")));
      continue;
    }
    std::string near;
    for (const char* kind : {"full_attention", "sliding_attention", "chunked_attention"}) {
      near = near.empty() && is_near(block.kind, kind, 3) ? kind : near;
    }
    if (!near.empty() && !is_standard(block.kind)) {
      found.push_back(
          error(block.path, block.kind, near,
                str("no layer is of kind '", block.kind, "'; did you mean '", near, "'?")));
    }
  }
  return found;
}

std::vector<Finding> check(const ResolvedModel& model) {
  std::vector<Finding> found;
  const RawKey* list = text_key(model, "layer_types");
  std::vector<RopeBlock> blocks;
  for (RopeBlock& block : rope_blocks(model)) {
    if (!block.kind.empty() && block.parameters) {
      blocks.push_back(std::move(block));
    }
  }
  if (list == nullptr || list->texts.empty() || blocks.empty()) {
    return check_unread(model);
  }
  const std::set<std::string> kinds(list->texts.begin(), list->texts.end());
  for (const RopeBlock& block : blocks) {
    const auto near = std::find_if(kinds.begin(), kinds.end(), [&](const std::string& kind) {
      return is_near(block.kind, kind, 3);
    });
    if (!kinds.contains(block.kind) && near != kinds.end()) {
      found.push_back(
          error(block.path, block.kind, *near,
                str("no layer is of kind '", block.kind, "'; did you mean '", *near, "'?")));
    }
  }
  const bool any_match = std::any_of(blocks.begin(), blocks.end(), [&](const RopeBlock& block) {
    return kinds.contains(block.kind);
  });
  for (const char* kind : {"full_attention", "sliding_attention", "chunked_attention"}) {
    const bool given = std::any_of(blocks.begin(), blocks.end(),
                                   [&](const RopeBlock& block) { return block.kind == kind; });
    const bool null =
        std::any_of(model.raw.keys().begin(), model.raw.keys().end(), [&](const RawKey& key) {
          return key.path.ends_with(str("rope_parameters.", kind)) && key.type == RawType::Null;
        });
    if (any_match && kinds.contains(kind) && !given && !null && found.empty()) {
      found.push_back(error(blocks.front().scope + "rope_parameters", "nothing", kind,
                            str("layers of kind '", kind, "' have no block in rope_parameters; ",
                                "add one, or null for no rotation")));
    }
  }
  return found;
}

}  // namespace

Rule rope_kind_unmatched_rule() {
  return {"rope-kind-unmatched",
          Severity::Error,
          "A block under a misspelled kind is read by nobody and its layers stop the reader "
          "or get defaults.",
          "Name the blocks as in layer_types, one per attention kind.",
          "transformers modeling_rope_utils.py, nested_rope_parameter_keys",
          check};
}

}  // namespace gyre::inspect

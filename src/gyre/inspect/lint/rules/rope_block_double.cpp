// Both generations of rope blocks in one file, with different values.
#include "gyre/inspect/lint/view.h"

namespace gyre::inspect {
namespace {

std::vector<Finding> check(const ResolvedModel& model) {
  std::vector<Finding> found;
  const std::vector<RopeBlock> blocks = rope_blocks(model);
  for (const RopeBlock& older : blocks) {
    for (const RopeBlock& newer : blocks) {
      if (older.parameters || !newer.parameters || older.scope != newer.scope) {
        continue;
      }
      for (const RawKey* key : older.keys) {
        const RawKey* other = newer.find(last_part(key->path));
        if (other != nullptr && key->type != RawType::Null && other->text != key->text) {
          found.push_back(warning(
              key->path, key->text, other->text,
              str(key->path, " is ", key->text, " and ", other->path, " is ", other->text,
                  "; transformers takes rope_scaling whenever it is not empty; keep one block")));
        }
      }
    }
  }
  return found;
}

}  // namespace

Rule rope_block_double_rule() {
  return {"rope-block-double",
          Severity::Warning,
          "transformers v4 and v5 take rope_scaling whenever it is not empty; a reader of the "
          "newer block gets other positions.",
          "Keep one block: rope_parameters for v5 readers, rope_scaling for v4.",
          "transformers modeling_rope_utils.py: self.rope_parameters = rope_scaling or "
          "self.rope_parameters",
          check};
}

}  // namespace gyre::inspect

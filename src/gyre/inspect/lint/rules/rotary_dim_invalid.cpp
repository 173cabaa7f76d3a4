// A rotated width that no reader can pair up.
#include <cmath>

#include "gyre/inspect/lint/view.h"

namespace gyre::inspect {
namespace {

void look_at_factor(const ResolvedModel& model, const RawKey* key, std::vector<Finding>& found) {
  if (std::isnan(key_number(key))) {
    return;
  }
  if (!(key->number > 0.0 && key->number <= 1.0)) {
    // A factor over several axes may be above 1 in a class not known here.
    found.push_back((model.known_type ? error : warning)(
        key->path, key->text, "above 0 and at most 1",
        str("partial factor must be above 0 and at most 1, found ", key->text)));
    return;
  }
  const double head = text_number(model, "head_dim");
  const double width = std::floor(head * key->number);
  if (!std::isnan(head) && std::fmod(width, 2.0) == 1.0 && key->number < 1.0) {
    found.push_back(warning(
        key->path, key->text, "an even width",
        str("partial factor ", key->text, " of head_dim ", text_of(head), " rotates ",
            text_of(width), " dims, an odd number; transformers rounds pairs up, others down")));
  }
}

std::vector<Finding> check(const ResolvedModel& model) {
  std::vector<Finding> found;
  for (const char* name : {"partial_rotary_factor", "rotary_pct"}) {
    look_at_factor(model, text_key(model, name), found);
  }
  for (const RopeBlock& block : rope_blocks(model)) {
    look_at_factor(model, block.find("partial_rotary_factor"), found);
  }
  for (const LayerKind& kind : model.kinds) {
    // The whole of an odd head: what is left after pairing is not what the file asks for.
    if (kind.base > 0.0 && kind.head_dim % 2 != 0 && kind.head_dim - kind.rotary_dim <= 1) {
      found.push_back(error(kind.name + ": head dim", std::to_string(kind.head_dim), "even",
                            str("head dim ", kind.head_dim, " is odd and all of it is to rotate; ",
                                "one channel has no partner and readers stop")));
      continue;
    }
    if (kind.base <= 0.0 ||
        (kind.rotary_dim % 2 == 0 && kind.rotary_dim > 0 && kind.rotary_dim <= kind.head_dim)) {
      continue;
    }
    if (kind.rotary_dim % 2 != 0 && kind.rotary_dim < kind.head_dim && !found.empty()) {
      continue;  // told above
    }
    found.push_back(error(kind.name + ": rotated dim", std::to_string(kind.rotary_dim),
                          str("even, 2 to ", kind.head_dim),
                          str("rotated dim ", kind.rotary_dim, " of head dim ", kind.head_dim,
                              " must be even, above 0 and at most the head dim")));
  }
  return found;
}

}  // namespace

Rule rotary_dim_invalid_rule() {
  return {"rotary-dim-invalid",
          Severity::Error,
          "Channels are rotated in pairs inside the head: an odd or larger width stops "
          "readers, or one channel is paired with nothing.",
          "Correct head_dim or the partial factor so that rotary_dim is even and at most "
          "head_dim.",
          "transformers configuration check: RoPE requires an even rotary dimension",
          check};
}

}  // namespace gyre::inspect

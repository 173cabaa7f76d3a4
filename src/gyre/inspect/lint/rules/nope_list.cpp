// The list of layers without rotation against its interval; read inverted.
#include <algorithm>
#include <cmath>

#include "gyre/inspect/lint/view.h"

namespace gyre::inspect {
namespace {

Finding inverted(const RawKey& list, size_t ones, size_t expected, double interval) {
  return error(list.path, str(ones, " rotating layers"), str(expected, " rotating layers"),
               str("no_rope_layers lets ", ones, " of ", list.numbers.size(),
                   " layers rotate; an interval of ", text_of(interval), " leaves rotation out of ",
                   list.numbers.size() - expected, "; the list is inverted: 1 means that a layer ",
                   "rotates, write 0 for layers without rotation"));
}

// Weights of a known class follow its interval, so a list that is shifted or has no zeros rotates
// layers that were trained without.
std::vector<Finding> unlike_class(const ResolvedModel& model, const RawKey& list, size_t ones,
                                  size_t expected, double interval) {
  const size_t n = list.numbers.size();
  const std::string wanted = str("0 at every layer i with (i + 1) % ", text_of(interval), " = 0");
  if (ones == 0 || (model.known_type && ones == n)) {
    return {warning(list.path, str(ones, " rotating layers"), wanted,
                    str("no_rope_layers turns rotation ", ones == 0 ? "off" : "on",
                        " in every layer; an interval of ", text_of(interval), " rotates ",
                        expected, " of ", n))};
  }
  if (!model.known_type || ones != expected) {
    return {};
  }
  return {warning(list.path, "shifted", wanted,
                  str("no_rope_layers leaves rotation out of as many layers as an interval of ",
                      text_of(interval), " does, but of other ones; compare with the weights"))};
}

std::vector<Finding> check(const ResolvedModel& model) {
  const RawKey* list = text_key(model, "no_rope_layers");
  if (list == nullptr || list->numbers.empty()) {
    return {};
  }
  const double layers = text_number(model, "num_hidden_layers");
  const size_t n = list->numbers.size();
  if (is_whole(layers) && static_cast<double>(n) != layers) {
    return {error(list->path, std::to_string(n), text_of(layers),
                  str("no_rope_layers has ", n, " entries for ", text_of(layers),
                      " layers; one per layer is needed"))};
  }
  for (size_t i = 0; i < n; ++i) {
    if (list->numbers[i] != 0.0 && list->numbers[i] != 1.0) {
      return {error(list->path, text_of(list->numbers[i]), "0 or 1",
                    str("no_rope_layers has ", text_of(list->numbers[i]), " at layer ", i,
                        "; write 1 for layers that rotate and 0 for the others"))};
    }
  }
  const bool given = text_key(model, "no_rope_layer_interval") != nullptr;
  const double interval = given ? text_number(model, "no_rope_layer_interval") : 4.0;
  if (!(interval >= 2.0) || !is_whole(interval) || interval > 1e6) {
    return {};
  }
  size_t ones = 0, expected = 0, same = 0;
  for (size_t i = 0; i < n; ++i) {
    const bool should = (i + 1) % static_cast<size_t>(interval) != 0;
    const bool rotates = list->numbers[i] != 0.0;
    ones += rotates ? 1 : 0;
    expected += should ? 1 : 0;
    same += should == rotates ? 1 : 0;
  }
  if (same == 0 || (ones == n - expected && ones < expected)) {
    return {inverted(*list, ones, expected, interval)};
  }
  if (std::vector<Finding> odd = unlike_class(model, *list, ones, expected, interval);
      same != n && !odd.empty()) {
    return odd;
  }
  if (same != n && given) {
    return {note(list->path, str(ones, " rotating layers"), str(expected, " rotating layers"),
                 str("no_rope_layers and no_rope_layer_interval ", text_of(interval), " differ at ",
                     n - same, " layers; the list wins"))};
  }
  return {};
}

}  // namespace

Rule nope_list_rule() {
  return {"nope-list",
          Severity::Error,
          "In no_rope_layers 1 means that a layer uses rotation, against its name; an "
          "inverted list rotates exactly the wrong layers.",
          "Write 1 for layers that rotate, 0 for every interval-th layer: 36 layers, interval "
          "4: 0 at 3, 7, ..., 35.",
          "huggingface/transformers#43756, huggingface/smollm#130, transformers PR#37344",
          check};
}

}  // namespace gyre::inspect

// The list of words.def by slot.
#include "gyre/accept/text/words.h"

#include <array>
#include <vector>

namespace gyre::accept {

std::span<const Word> words_of(Slot slot) {
  static const auto lists = [] {
    std::array<std::vector<Word>, kSlots> made;
#define GYRE_WORD(slot_name, text, paraphrase) \
  made[static_cast<int>(Slot::slot_name)].push_back({text, paraphrase});
#include "gyre/accept/text/words.def"
#undef GYRE_WORD
    return made;
  }();
  return lists[static_cast<size_t>(slot)];
}

}  // namespace gyre::accept

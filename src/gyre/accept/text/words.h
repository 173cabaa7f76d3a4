// The five slots of a record and their values, each with a paraphrase. words.def is the list.
#pragma once

#include <span>
#include <string_view>

namespace gyre::accept {

enum class Slot { Register, Place, Object, Person, Month };
inline constexpr int kSlots = 5;

struct Word {
  std::string_view text, paraphrase;
};

std::span<const Word> words_of(Slot slot);

}  // namespace gyre::accept

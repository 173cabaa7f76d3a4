// A tokenizer.json from memory; used by load_tokenizer.
#pragma once

#include <functional>
#include <optional>

#include "gyre/model/tokenizer/tokenizer.h"

namespace gyre::model {

/// The small files that lie beside a tokenizer.json or .model; empty = not there.
struct SideFiles {
  std::string tokenizer_config, generation_config, config;
};

/// `source` is the file as it is; `known` holds when it says which ids begin and end a text (as
/// serialize() wrote it), else the side files do. Error(Format) names what is damaged or not
/// supported.
std::unique_ptr<Tokenizer> hf_tokenizer(const std::string& source, const SideFiles& side,
                                        const std::optional<SpecialIds>& known = {});

/// What the side files say of the ids that begin and end a text; `id_of` finds a token by its text
/// (-1 = unknown). `ids` holds what is known already and is kept where they say nothing.
void read_side_files(const SideFiles& side, const std::function<int64_t(const std::string&)>& id_of,
                     SpecialIds& ids);

}  // namespace gyre::model

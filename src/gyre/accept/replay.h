// The procedure again over a run's own replies: nothing is sent, and every item is built anew.
#pragma once

#include <optional>
#include <string>

#include "gyre/accept/facts_file.h"
#include "gyre/accept/options.h"
#include "gyre/accept/record.h"

namespace gyre::accept {

/// The item with this sid as this version of gyre makes it; none when the procedure does not come
/// to it any more.
std::optional<Item> rebuild(const Record& record, const KnownFacts& known,
                            const AcceptOptions& options, const std::string& sid);

}  // namespace gyre::accept

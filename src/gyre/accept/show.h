// One item of a recorded run, whole: what was asked, what came, how it was judged. The prompt is
// rebuilt by running the procedure again over the recorded replies, without sending anything.
#pragma once

#include <filesystem>
#include <string>

#include "gyre/accept/item.h"
#include "gyre/accept/options.h"
#include "gyre/accept/record.h"

namespace gyre::accept {

struct Shown {
  Sample sample;       // with the prompt's contents when it was rebuilt
  std::string prompt;  // prompt_text(), rebuilt or from the file; "" = neither could be had
  std::string origin;  // one sentence: where the prompt comes from and whether it is the same
  bool rebuilt = false, same = false;
};

/// `sid`: its beginning is enough where no other item shares it.
///
/// throws  Error(Usage) when no item or several begin so
Shown show(const std::filesystem::path& dir, const std::string& sid);
std::string to_text(const Shown& shown);
std::string to_json(const Shown& shown);

}  // namespace gyre::accept

// gyre accept --model PATH: a model in this process. gyre-torch says how to open one, at start;
// gyre cannot, and hands such runs on (main.cpp).
#pragma once

#include <functional>
#include <memory>

#include "gyre/accept/local_subject.h"
#include "gyre/accept/subject.h"
#include "gyre/cli/verb.h"

namespace gyre::cli {

using OpenLocal = std::function<std::unique_ptr<accept::Subject>(
    const accept::LocalOptions& options, const CommonOptions& common)>;
void use_local_subject(OpenLocal open);
/// Empty where no model can be opened.
const OpenLocal& local_subject();

}  // namespace gyre::cli

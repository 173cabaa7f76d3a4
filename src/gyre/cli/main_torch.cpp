// The program `gyre-torch`, with every verb: see program.h.
#include <c10/util/Exception.h>

#include <iostream>

#include "gyre/base/error.h"
#include "gyre/base/isa.h"
#include "gyre/base/progress.h"
#include "gyre/cli/inspect_text.h"
#include "gyre/cli/local_subject.h"
#include "gyre/cli/program.h"
#include "gyre/cli/text_loss.h"
#include "gyre/tensor/memory_fault.h"
#include "gyre/train/machine.h"

namespace gyre::cli {
#define GYRE_VERB(suffix, name, summary) Action add_##suffix(CLI::App& app);
#define GYRE_TORCH_VERB GYRE_VERB
#include "gyre/cli/verbs.def"
#undef GYRE_VERB

namespace {

const std::vector<VerbInfo>& verbs() {
  static const std::vector<VerbInfo> list = {
#define GYRE_VERB(suffix, name, summary) {name, summary, add_##suffix},
#include "gyre/cli/verbs.def"
#undef GYRE_VERB
#undef GYRE_TORCH_VERB
  };
  return list;
}

/// A tensor argument that a check refused is usage, and so are sizes that do not fit in memory; any
/// other fault of torch is a bug.
int torch_fault(const std::exception& fault, bool verbose) {
  const auto* error = dynamic_cast<const c10::Error*>(&fault);
  if (error == nullptr) {
    return 0;
  }
  if (is_out_of_memory(fault)) {
    return out_of_memory(verbose ? error->what() : "");
  }
  std::cerr << "gyre: " << (verbose ? error->what() : error->what_without_backtrace()) << '\n';
  const bool usage = dynamic_cast<const c10::ValueError*>(error) != nullptr;
  return exit_code(usage ? Code::Usage : Code::Internal);
}

}  // namespace
}  // namespace gyre::cli

int main(int argc, char** argv) {
  gyre::train::keep_freed_memory();
  gyre::catch_interrupts();
  try {
    gyre::isa();  // a GYRE_KERNEL that cannot be had is the same fault for every verb
  } catch (const gyre::Error& e) {
    std::cerr << "gyre: " << e.what() << '\n';
    return gyre::exit_code(e.code());
  }
  gyre::cli::use_text_loss(gyre::cli::text_bits_per_byte);
  gyre::cli::use_local_subject([](const auto& options, const auto& common) {
    gyre::cli::apply_common(common);
    return gyre::accept::open_local(options);
  });
  return gyre::cli::run_program(argc, argv, gyre::cli::verbs(), gyre::cli::torch_fault);
}

// The program `gyre`, without libtorch: see program.h.
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <string>
#include <system_error>

#include "gyre/base/error.h"
#include "gyre/base/progress.h"
#include "gyre/cli/program.h"

namespace gyre::cli {
#define GYRE_VERB(suffix, name, summary) Action add_##suffix(CLI::App& app);
#define GYRE_TORCH_VERB(suffix, name, summary)
#include "gyre/cli/verbs.def"
#undef GYRE_VERB
#undef GYRE_TORCH_VERB

namespace {

const std::vector<VerbInfo>& verbs() {
  static const std::vector<VerbInfo> list = {
#define GYRE_VERB(suffix, name, summary) {name, summary, add_##suffix},
#define GYRE_TORCH_VERB(suffix, name, summary) {name, summary, nullptr},
#include "gyre/cli/verbs.def"
#undef GYRE_VERB
#undef GYRE_TORCH_VERB
  };
  return list;
}

bool needs_torch(const char* word) {
  for (const VerbInfo& info : verbs()) {
    if (std::strcmp(info.name, word) == 0) {
      return info.add == nullptr;
    }
  }
  return false;
}

bool has_flag(int argc, char** argv, const std::string& flag) {
  return std::any_of(argv, argv + argc, [&](const char* word) {
    return word == flag || std::string(word).starts_with(flag + "=");
  });
}

/// gyre inspect --text FILE A B --loss; gyre accept --model PATH. The plan of an acceptance and a
/// look at its items run nothing.
bool runs_models(int argc, char** argv) {
  const bool accept = has_flag(argc, argv, "accept") && has_flag(argc, argv, "--model") &&
                      !has_flag(argc, argv, "--endpoint") && !has_flag(argc, argv, "plan") &&
                      !has_flag(argc, argv, "show");
  return accept || has_flag(argc, argv, "--loss");
}

/// Becomes gyre-torch, which lies beside this program; returns only when that failed.
int hand_on(char** argv) {
  std::error_code ignored;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", ignored);
  const std::string program = (self.parent_path() / "gyre-torch").string();
  ::execv(program.c_str(), argv);
  std::cerr << "gyre: cannot start " << program << ": " << std::strerror(errno)
            << "; build or install it beside gyre\n";
  return exit_code(Code::Internal);
}

}  // namespace
}  // namespace gyre::cli

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    if (argv[i][0] != '-') {  // the verb is the first word; flags before it take no value
      if (gyre::cli::needs_torch(argv[i]) || gyre::cli::runs_models(argc, argv)) {
        return gyre::cli::hand_on(argv);
      }
      break;
    }
  }
  gyre::catch_interrupts();
  return gyre::cli::run_program(argc, argv, gyre::cli::verbs());
}

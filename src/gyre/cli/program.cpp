#include "gyre/cli/program.h"

#include <fcntl.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>

#include "gyre/base/error.h"
#include "gyre/base/json_words.h"
#include "gyre/base/options.h"
#include "gyre/base/progress.h"

namespace gyre::cli {
namespace {

/// Whatever a file or a flag put into it, a message is one line of bounded length.
int fault(Code code, const std::string& message) {
  std::cerr << "gyre: " << one_line(message, 2000) << '\n';
  return exit_code(code);
}

int usage_fault(const std::string& message) {
  return fault(Code::Usage, message);
}

/// Under a shell's >&- the first file opened would get the number of stdout, and the result would
/// be written into it. Writing to what takes the place fails, which written() sees.
void keep_standard_streams() {
  for (const int number : {0, 1, 2}) {
    if (::fcntl(number, F_GETFD) < 0) {
      (void)::open("/dev/null", number == 0 ? O_WRONLY : O_RDONLY);
    }
  }
}

/// The exit code, once all that was printed has arrived.
int written(int code) {
  errno = 0;
  std::cout.flush();
  const bool done = std::fflush(stdout) == 0 && std::ferror(stdout) == 0 && std::cout.good();
  if (done || code > exit_code(Code::CheckFailed)) {
    return code;
  }
  if (errno == 0 && ::write(STDOUT_FILENO, "\n", 1) == 1) {  // an earlier write failed: ask why
    errno = 0;
  }
  return fault(Code::File, str("cannot write the result to standard output",
                               errno == 0 ? "" : std::string(": ") + std::strerror(errno)));
}

int unknown_verb(const std::string& verb, const std::vector<VerbInfo>& verbs) {
  std::vector<std::string> names;
  for (const VerbInfo& info : verbs) {
    names.emplace_back(info.name);
  }
  const std::string near = nearest_name(verb, names);
  return usage_fault(str("no verb '", verb, "'",
                         near.empty() ? "" : "; did you mean '" + near + "'?",
                         " see: gyre --help"));
}

}  // namespace

int out_of_memory(const std::string& details) {
  std::cerr << "gyre: out of memory; lower --batch, --length or the model's size"
            << (details.empty() ? "" : ": ") << details << '\n';
  return exit_code(Code::Usage);
}

namespace {

/// Runs the verb; every fault becomes a line and an exit code.
int run_action(const Action& action, bool verbose, const FaultHandler& other_fault) {
  try {
    return action();
  } catch (const Error& e) {
    return fault(e.code(), e.what());
  } catch (const std::filesystem::filesystem_error& e) {
    return fault(Code::File, str(e.path1().string(), ": ", e.code().message()));
  } catch (const nlohmann::json::exception& e) {  // no reader of ours named the file
    return fault(Code::Format, str("a JSON file is not as expected: ", json_words(e)));
  } catch (const std::bad_alloc&) {
    return out_of_memory("");
  } catch (const std::exception& e) {
    if (other_fault) {
      if (const int code = other_fault(e, verbose); code != 0) {
        return code;
      }
    }
    return fault(Code::Internal, str("unexpected fault: ", e.what()));
  }
}

int parse_and_run(int argc, char** argv, const std::vector<VerbInfo>& verbs,
                  const FaultHandler& other_fault) {
  CLI::App app{"gyre: a laboratory for position encodings in Transformer language models"};
  app.name("gyre");
  app.footer(
      "Exit codes: 0 done or passed, 1 a check failed, 2 usage, 3 bad input, 4 remote, 70 bug.");
  app.set_version_flag("--version", "gyre " GYRE_VERSION);
  app.require_subcommand(1);
  bool verbose = false;
  app.add_flag("-v,--verbose", verbose, "show where a fault was raised");
  std::map<CLI::App*, Action> actions;
  for (const VerbInfo& info : verbs) {
    CLI::App* sub = app.add_subcommand(info.name, info.summary);
    sub->fallthrough();
    if (info.add != nullptr) {
      actions[sub] = info.add(*sub);
    }
  }
  const auto is_verb = [&](const VerbInfo& info) { return std::strcmp(info.name, argv[1]) == 0; };
  if (argc > 1 && argv[1][0] != '-' && std::none_of(verbs.begin(), verbs.end(), is_verb)) {
    return unknown_verb(argv[1], verbs);
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp& e) {
    return app.exit(e);
  } catch (const CLI::CallForAllHelp& e) {
    return app.exit(e);
  } catch (const CLI::CallForVersion& e) {
    return app.exit(e);
  } catch (const CLI::RequiredError& e) {
    if (argc == 1) {
      std::cerr << app.help();
      return exit_code(Code::Usage);
    }
    return usage_fault(e.what());
  } catch (const CLI::ParseError& e) {
    return usage_fault(str(e.what(), "; see: gyre ", argc > 1 ? argv[1] : "", " --help"));
  }
  return run_action(actions.at(app.get_subcommands().front()), verbose, other_fault);
}

}  // namespace

int run_program(int argc, char** argv, const std::vector<VerbInfo>& verbs,
                const FaultHandler& other_fault) {
  keep_standard_streams();
  return written(parse_and_run(argc, argv, verbs, other_fault));
}

}  // namespace gyre::cli

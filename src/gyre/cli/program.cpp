#include "gyre/cli/program.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <map>

#include "gyre/base/error.h"
#include "gyre/base/options.h"
#include "gyre/base/progress.h"

namespace gyre::cli {
namespace {

int usage_fault(const std::string& message) {
  std::cerr << "gyre: " << message << '\n';
  return exit_code(Code::Usage);
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

int run_program(int argc, char** argv, const std::vector<VerbInfo>& verbs,
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
  try {
    return actions.at(app.get_subcommands().front())();
  } catch (const Error& e) {
    std::cerr << "gyre: " << e.what() << '\n';
    return exit_code(e.code());
  } catch (const std::filesystem::filesystem_error& e) {
    std::cerr << "gyre: " << e.path1().string() << ": " << e.code().message() << '\n';
    return exit_code(Code::File);
  } catch (const std::bad_alloc&) {
    return out_of_memory("");
  } catch (const std::exception& e) {
    if (other_fault) {
      if (const int code = other_fault(e, verbose); code != 0) {
        return code;
      }
    }
    std::cerr << "gyre: unexpected fault: " << e.what() << '\n';
    return exit_code(Code::Internal);
  }
}

}  // namespace gyre::cli

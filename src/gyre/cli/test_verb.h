// For tests of verbs: parses arguments as the program does and runs the verb's action.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "gyre/base/error.h"
#include "gyre/cli/verb.h"

namespace gyre::cli {

/// The text of the Error(Usage or other) with which `add`'s verb refuses the arguments; "" = none.
inline std::string message_of(Action (*add)(CLI::App&), const std::string& arguments) {
  CLI::App app;
  const Action action = add(app);
  app.parse(arguments);
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace gyre::cli

#include "gyre/cli/verb.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string_view>

#include "gyre/base/error.h"
#include "gyre/base/files.h"
#include "gyre/base/options.h"

namespace gyre::cli {
namespace {

std::string shell_word(const std::string& word) {
  const bool plain = !word.empty() && std::all_of(word.begin(), word.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 ||
           std::string_view("-_./=:,@+").find(static_cast<char>(c)) != std::string_view::npos;
  });
  return plain ? word : "'" + word + "'";
}

constexpr long kMostThreads = 1024;

/// What is wrong with a --threads, "" = nothing. CLI11's own range prints its bounds in full.
std::string thread_fault(const std::string& text) {
  long threads = -1;
  const char* end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, threads);
  const bool fits =
      read.ec == std::errc() && read.ptr == end && threads >= 0 && threads <= kMostThreads;
  return fits ? "" : str("must be 0 (all cores) to ", kMostThreads, ", got '", text, "'");
}

}  // namespace

std::string command_text() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::string out = "gyre", word;
  for (bool first = true; std::getline(file, word, '\0'); first = false) {
    out += first ? "" : " " + shell_word(word);
  }
  return out;
}

void add_common(CLI::App& app, CommonOptions& common) {
  app.add_option("--json", common.json, "write the result as one JSON object to PATH; - = stdout")
      ->type_name("PATH")
      ->group("General");
  app.add_option("--config", common.config,
                 "read options from FILE (a run's config.json); flags override")
      ->type_name("FILE")
      ->group("General");
  app.add_flag("--print-config", common.print_config,
               "print every option with its value and origin, run nothing")
      ->group("General");
  app.add_option("--device", common.device, "cpu | cuda [cpu]")->type_name("")->group("General");
  app.add_option("--threads", common.threads, "threads; 0 = all cores [0]")
      ->type_name("")
      ->check(CLI::Validator(thread_fault, ""))
      ->group("General");
}

void check_output(const std::string& flag, const std::string& file) {
  if (file.empty() || file == "-") {
    return;
  }
  const std::filesystem::path parent = std::filesystem::path(file).parent_path();
  const std::filesystem::path folder = parent.empty() ? "." : parent;
  std::error_code ignored;
  if (!std::filesystem::is_directory(folder, ignored)) {
    throw Error(Code::Usage, flag, " ", file, ": there is no folder ", folder.string(),
                "; make it or give another path");
  }
  const std::filesystem::file_status status = std::filesystem::status(file, ignored);
  if (std::filesystem::is_directory(status)) {
    throw Error(Code::Usage, flag, " ", file, ": is a folder; give the path of a file");
  }
  // Files are replaced, which their folder must allow; devices and pipes are written to.
  const bool replaced =
      !std::filesystem::exists(status) || std::filesystem::is_regular_file(status);
  const std::filesystem::path written = replaced ? folder : std::filesystem::path(file);
  if (::access(written.c_str(), W_OK) != 0) {
    throw Error(Code::Usage, flag, " ", file, ": cannot write to ", written.string(), ": ",
                std::strerror(errno), "; give another path");
  }
}

CLI::Option* add_count(CLI::App& app, const std::string& flag, int64_t& value,
                       const std::string& help) {
  const auto set = [flag, &value](const std::string& text) {
    try {
      gyre::detail::parse(text, value);
    } catch (const Error& error) {
      throw CLI::ValidationError(flag, error.what());
    }
  };
  return app.add_option_function<std::string>(flag, set, help)->type_name("N");
}

void write_json(const CommonOptions& common, const std::string& json_text) {
  if (common.json == "-") {
    std::cout << json_text << std::endl;
  } else if (!common.json.empty()) {
    write_file_atomic(common.json, json_text + "\n");
  }
}

}  // namespace gyre::cli

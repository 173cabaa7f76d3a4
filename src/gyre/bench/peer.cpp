#include "gyre/bench/peer.h"

#include <charconv>
#include <cstdlib>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <system_error>

#include "gyre/base/error.h"
#include "gyre/bench/machine.h"
#include "gyre/data/subprocess.h"
#include "gyre/tensor/memory_fault.h"

namespace gyre::bench {
namespace {

namespace fs = std::filesystem;
constexpr double kStepWaits = 10.0;  // a step may take this many times what its case was judged by
constexpr double kAnswerWait = 30.0;

fs::path running_dir() {
  std::error_code ignored;
  return fs::read_symlink("/proc/self/exe", ignored).parent_path();
}

bool has_torch(const std::string& python) {
  const char* look = "import importlib.util as u, sys; sys.exit(u.find_spec('torch') is None)";
  try {
    return data::run_command({python, "-c", look}, ".").status == 0;
  } catch (const Error&) {
    return false;  // no such program
  }
}

/// Full path of a program: posix_spawn does not search PATH.
std::string on_path(const std::string& name) {
  if (name.find('/') != std::string::npos) {
    return name;
  }
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    std::error_code ignored;
    if (fs::is_regular_file(fs::path(folder) / name, ignored)) {
      return (fs::path(folder) / name).string();
    }
  }
  return "";
}

fs::path find_scripts(const fs::path& dir) {
  const fs::path places[] = {dir.parent_path() / "share/gyre/bench",      // installed
                             dir.parent_path().parent_path() / "bench"};  // build/<preset>/gyre
  std::error_code ignored;
  for (const fs::path& place : places) {
    if (fs::is_regular_file(place / "torch_peer.py", ignored)) {
      return place;
    }
  }
  throw Error(Code::File, "no peer scripts: looked for torch_peer.py in ", places[0].string(),
              " and ", places[1].string(), "; install gyre anew or give --no-peer");
}

}  // namespace

PeerPlace find_peer(const std::string& python, const fs::path& program_dir) {
  const fs::path dir = program_dir.empty() ? running_dir() : program_dir;
  PeerPlace place;
  place.scripts = find_scripts(dir);
  if (!python.empty()) {
    place.python = on_path(python);
    if (place.python.empty() || !has_torch(place.python)) {
      throw Error(Code::Usage, "--python ", python,
                  " has no torch; install it there, give another Python, or --no-peer");
    }
    return place;
  }
  const char* given = std::getenv("GYRE_PYTHON");
  if (given != nullptr && *given != '\0' && on_path(given).empty()) {
    throw Error(Code::Usage, "GYRE_PYTHON=", given,
                " is no program; correct it, give --python, or leave the peer out with --no-peer");
  }
  const fs::path venv = dir.parent_path().parent_path() / ".venv/bin/python";
  for (const std::string& each :
       {std::string(given == nullptr ? "" : given), venv.string(), std::string("python3")}) {
    const std::string found = each.empty() ? "" : on_path(each);
    if (!found.empty() && has_torch(found)) {
      place.python = found;
      return place;
    }
  }
  throw Error(Code::Usage, "no Python with torch for the peer: looked at GYRE_PYTHON, ",
              venv.string(), " and python3; give one with --python, or leave the peer out with ",
              "--no-peer");
}

fs::path own_program() {
  return running_dir() / "gyre-torch";
}

double read_reply(const std::string& line, const std::string& word) {
  if (line.starts_with("error ")) {
    throw Error(Code::Remote, "the peer failed: ", line.substr(6));
  }
  const size_t space = line.find(' ');
  double value = 0.0;
  const char* end = line.data() + line.size();
  if (space != std::string::npos && line.compare(0, space, word) == 0) {
    const auto read = std::from_chars(line.data() + space + 1, end, value);
    if (read.ec == std::errc() && read.ptr == end) {
      return value;
    }
  }
  throw Error(Code::Remote, "the peer said '", line.substr(0, 200), "', expected '", word,
              " NUMBER'");
}

Server::Server(const std::vector<std::string>& args, const Limits& limits)
    : process_(args), limits_(limits) {
  constexpr std::string_view kReady = "ready ";
  const std::string line = process_.receive(static_cast<double>(limits.start_limit_s));
  const auto about = line.starts_with(kReady)
                         ? nlohmann::json::parse(line.substr(kReady.size()), nullptr, false)
                         : nlohmann::json();
  if (!about.is_object() || !about.contains("peer") || !about["peer"].is_string() ||
      !about.contains("start_mib") || !about["start_mib"].is_number()) {
    throw Error(Code::Remote, "the peer said '", line.substr(0, 200),
                "', expected 'ready {\"peer\": ..., \"start_mib\": ...}'");
  }
  name_ = about["peer"].get<std::string>();
  start_mib_ = about["start_mib"].get<double>();
}

double Server::step_ms(const std::string& words) {
  const double limit = known_.insert(words).second ? static_cast<double>(limits_.start_limit_s)
                                                   : kStepWaits * limits_.step_limit_s;
  return read_reply(process_.ask("step " + words, limit), "ms");
}

double Server::peak_mib() {
  return read_reply(process_.ask("peak", kAnswerWait), "mib");
}

void serve(std::istream& in, std::ostream& out, const StepOf& step) {
  const nlohmann::json about = {{"peer", "gyre"}, {"start_mib", peak_resident_mib()}};
  out << "ready " << about.dump() << std::endl;
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::string command;
    words >> command;
    try {
      if (command == "step") {
        std::vector<std::string> rest;
        for (std::string word; words >> word;) {
          rest.push_back(word);
        }
        const double ms = step(rest);
        out << "ms " << ms << std::endl;
      } else if (command == "peak") {
        out << "mib " << peak_resident_mib() << std::endl;
      } else if (command == "quit") {
        return;
      } else {
        out << "error no command '" << line << "'" << std::endl;
      }
    } catch (const std::exception& fault) {
      const std::string text = is_out_of_memory(fault) ? "out of memory" : fault.what();
      out << "error " << text.substr(0, text.find('\n')) << std::endl;
    }
  }
}

}  // namespace gyre::bench

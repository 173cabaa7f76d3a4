// The other side of a benchmark: a process that runs one step per line (bench/torch_peer.py has the
// protocol). PyTorch is one; gyre itself is another where memory is measured, because the peak of a
// process can only be had from a process of its own.
#pragma once

#include <filesystem>
#include <functional>
#include <iosfwd>
#include <set>
#include <string>
#include <vector>

#include "gyre/bench/line_process.h"
#include "gyre/bench/options.h"

namespace gyre::bench {

class Server {
 public:
  /// Starts `args` (program and its arguments) and waits until it is ready.
  Server(const std::vector<std::string>& args, const Limits& limits);

  /// One timed step of a case ("bf16 learned"), ms. Its first step waits for --start-limit-s, the
  /// others for ten times --step-limit-s.
  double step_ms(const std::string& words);
  /// Largest resident size so far, MiB.
  double peak_mib();

  const std::string& name() const { return name_; }  // "torch 2.13.0"
  double start_mib() const { return start_mib_; }    // before anything was computed

 private:
  LineProcess process_;
  Limits limits_;
  std::string name_;
  double start_mib_ = 0.0;
  std::set<std::string> known_;  // cases that have run
};

/// "ms 12.5" -> 12.5 for word "ms". Error(Remote) for "error TEXT" and for anything else.
double read_reply(const std::string& line, const std::string& word);

/// The protocol from the other end: answers until `in` ends. step(words of a case) -> ms.
using StepOf = std::function<double(const std::vector<std::string>& words)>;
void serve(std::istream& in, std::ostream& out, const StepOf& step);

/// Python with torch, and the folder of the peer scripts.
struct PeerPlace {
  std::string python;
  std::filesystem::path scripts;
};

/// `python`: the flag, "" = look for one. `program_dir`: "" = that of the running program.
/// Error(Usage) says where it looked and what to do.
PeerPlace find_peer(const std::string& python, const std::filesystem::path& program_dir = {});

/// The program that serves our side: gyre-torch beside the running one.
std::filesystem::path own_program();

}  // namespace gyre::bench

// A child process that answers lines with lines, through a socket on its stdin and stdout. Every
// wait has a limit and ends on Ctrl-C; the child and all it started die with this object.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "gyre/base/error.h"

namespace gyre::bench {

/// Ctrl-C ended a measurement; nothing of it is kept.
class Interrupted : public Error {
 public:
  Interrupted() : Error(Code::CheckFailed, "interrupted; nothing was written") {}
};

/// A case took longer than its limit.
class TimedOut : public Error {
 public:
  using Error::Error;
};

class LineProcess {
 public:
  /// Starts args[0] (a path) in a process group of its own. Error(File) when it cannot be started.
  explicit LineProcess(const std::vector<std::string>& args);
  ~LineProcess();
  LineProcess(const LineProcess&) = delete;
  LineProcess& operator=(const LineProcess&) = delete;

  /// Sends one line.
  void send(const std::string& line);
  /// The next line, without its end.
  ///
  /// throws  TimedOut       nothing came within `limit_s` seconds
  ///         Error(Remote)  the child ended; the message holds its last line on stderr
  ///         Interrupted    Ctrl-C
  std::string receive(double limit_s);
  /// send and receive.
  std::string ask(const std::string& line, double limit_s);

 private:
  std::string name_;
  pid_t pid_ = -1;
  int socket_ = -1;
  int faults_ = -1;      // a file without a name: what the child prints to stderr
  std::string pending_;  // bytes after the last whole line

  [[noreturn]] void fail_ended();
  std::string last_words() const;
};

}  // namespace gyre::bench

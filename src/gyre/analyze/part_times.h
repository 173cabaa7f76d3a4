// What the parts of an analysis took, over all runs that worked on it: one line per piece of work
// in a file of its own, so that the results themselves are the same each time.
#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <string>

#include "gyre/base/files.h"

namespace gyre::analyze {

class PartTimes {
 public:
  /// Reads what earlier runs wrote to `file`; lines that cannot be read are passed by. The clock
  /// starts.
  explicit PartTimes(const std::filesystem::path& file);
  void start() { from_ = Clock::now(); }
  /// Adds the seconds since the last lap or start to the part.
  void lap(const std::string& part);
  const std::map<std::string, double>& sums() const { return sums_; }

 private:
  using Clock = std::chrono::steady_clock;
  std::map<std::string, double> sums_;
  LineWriter writer_;
  Clock::time_point from_ = Clock::now();
};

}  // namespace gyre::analyze

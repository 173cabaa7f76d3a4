#include "gyre/analyze/part_times.h"

#include <nlohmann/json.hpp>
#include <sstream>

namespace gyre::analyze {

using Json = nlohmann::json;

PartTimes::PartTimes(const std::filesystem::path& file) : writer_(file) {
  std::istringstream lines(read_file(file));
  for (std::string line; std::getline(lines, line);) {
    const Json json = Json::parse(line, nullptr, false);
    const bool ours = json.is_object() && json.contains("part") && json["part"].is_string() &&
                      json.contains("seconds") && json["seconds"].is_number();
    if (ours) {
      sums_[json["part"].get<std::string>()] += json["seconds"].get<double>();
    }
  }
}

void PartTimes::lap(const std::string& part) {
  const auto now = Clock::now();
  const double seconds = std::chrono::duration<double>(now - from_).count();
  from_ = now;
  sums_[part] += seconds;
  writer_.write(Json{{"part", part}, {"seconds", seconds}}.dump());
}

}  // namespace gyre::analyze

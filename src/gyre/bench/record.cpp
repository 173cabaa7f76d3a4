#include "gyre/bench/record.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <nlohmann/json.hpp>
#include <string_view>

#include "gyre/base/error.h"
#include "gyre/base/progress.h"

namespace gyre::bench {
namespace {

using Json = nlohmann::ordered_json;
constexpr int64_t kBootstraps = 2000;

Ratio with_interval(size_t n, const std::function<double(std::span<const int64_t>)>& statistic) {
  Ratio out;
  if (n > 0) {
    std::vector<int64_t> all(n);
    for (size_t i = 0; i < n; ++i) {
      all[i] = static_cast<int64_t>(i);
    }
    out.value = statistic(all);
  }
  if (n > 1) {
    out.ci95 = study::bootstrap(static_cast<int64_t>(n), statistic, kBootstraps, 1);
  }
  return out;
}

std::vector<double> picked(const std::vector<double>& values, std::span<const int64_t> indices) {
  std::vector<double> out;
  for (const int64_t i : indices) {
    out.push_back(values[static_cast<size_t>(i)]);
  }
  return out;
}

Json number(double value) {
  return std::isfinite(value) ? Json(value) : Json(nullptr);
}

Json samples(const std::vector<double>& values) {
  Json out = Json::array();
  for (const double value : values) {
    out.push_back(std::round(value * 1e4) / 1e4);
  }
  return out;
}

Json json_of(const Row& row) {
  Json out = {{"what", row.what},         {"ours", number(row.ours)},
              {"peer", number(row.peer)}, {"ratio", number(row.ratio)},
              {"unit", row.unit},         {"peer_name", row.peer_name},
              {"ratio_is", row.ratio_is}};
  out["ci95"] = row.ci95.known() ? Json{row.ci95.lo, row.ci95.hi} : Json(nullptr);
  if (!row.series.empty()) {
    out["series"] = row.series;
    out["x"] = number(row.x);
  }
  if (!row.note.empty()) {
    out["note"] = row.note;
  }
  if (!row.ours_samples.empty() || !row.peer_samples.empty()) {
    out["samples"] = {{"ours", samples(row.ours_samples)}, {"peer", samples(row.peer_samples)}};
  }
  return out;
}

Json json_of(const OpShare& op) {
  return {{"name", op.name},
          {"calls", op.calls},
          {"ms", op.ms},
          {"share", op.share},
          {"gflops", op.gflops > 0 ? Json(op.gflops) : Json(nullptr)},
          {"gbytes_per_s", op.gbytes_per_s > 0 ? Json(op.gbytes_per_s) : Json(nullptr)},
          {"roofline", number(op.roofline)}};
}

Json json_of(const Machine& machine) {
  return {{"cpu", machine.cpu},
          {"isa", machine.isa},
          {"threads", machine.threads},
          {"torch", machine.torch},
          {"peer", machine.peer.empty() ? Json(nullptr) : Json(machine.peer)},
          {"build_revision", machine.build_revision},
          {"gbytes_per_s", number(machine.gbytes_per_s)}};
}

/// Four significant digits, and a dash for what is not known.
std::string cell(double value) {
  if (!std::isfinite(value)) {
    return "-";
  }
  char text[32];
  const double size = std::abs(value);
  const int digits = size >= 100 ? 0 : size >= 10 ? 1 : size >= 0.1 || size == 0 ? 2 : 4;
  std::snprintf(text, sizeof text, "%.*f", digits, value);
  return text;
}

std::string ratio_cell(const Row& row) {
  if (!std::isfinite(row.ratio)) {
    return "-";
  }
  char text[64];
  std::snprintf(text, sizeof text, row.ci95.known() ? "%.2f (%.2f-%.2f)" : "%.2f", row.ratio,
                row.ci95.lo, row.ci95.hi);
  return text;
}

using Cells = std::vector<std::string>;

/// The first column left, the others right; `left` columns from the end are left too.
std::string aligned(const std::vector<Cells>& rows, size_t left_at_end) {
  std::vector<size_t> widths(rows.front().size(), 0);
  for (const Cells& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], row[i].size());
    }
  }
  std::string out;
  for (const Cells& row : rows) {
    std::string line = " ";
    for (size_t i = 0; i < row.size(); ++i) {
      const std::string pad(widths[i] - row[i].size(), ' ');
      const bool left = i == 0 || i + left_at_end >= row.size();
      line += " " + (left ? row[i] + pad : pad + row[i]) + " ";
    }
    line.resize(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  }
  return out;
}

std::string profile_text(const Record& record) {
  constexpr double kLeast = 0.005;
  std::vector<Cells> rows = {
      {"operator", "calls", "ms", "share", "GFLOP/s", "GB/s", "of roofline"}};
  double rest = 0.0;
  for (const OpShare& op : record.profile) {
    if (op.share < kLeast) {
      rest += op.ms;
      continue;
    }
    const auto known = [](double value) { return value > 0 ? cell(value) : std::string("-"); };
    rows.push_back({op.name, cell(op.calls), cell(op.ms), cell(100 * op.share) + " %",
                    known(op.gflops), known(op.gbytes_per_s),
                    std::isfinite(op.roofline) ? cell(100 * op.roofline) + " %" : "-"});
  }
  rows.push_back({"all others", "", cell(rest), "", "", "", ""});
  return "\nWhere a step of ours goes (one process, per step)\n" + aligned(rows, 0);
}

}  // namespace

Ratio ratio_of_medians(const std::vector<double>& above, const std::vector<double>& below) {
  return with_interval(std::min(above.size(), below.size()), [&](std::span<const int64_t> drawn) {
    return study::median(picked(above, drawn)) / study::median(picked(below, drawn));
  });
}

Ratio median_of_ratios(const std::vector<double>& above, const std::vector<double>& below) {
  return with_interval(std::min(above.size(), below.size()), [&](std::span<const int64_t> drawn) {
    std::vector<double> ratios;
    for (const int64_t i : drawn) {
      ratios.push_back(above[static_cast<size_t>(i)] / below[static_cast<size_t>(i)]);
    }
    return study::median(std::move(ratios));
  });
}

Row time_row(std::string what, std::string peer_name, const std::vector<double>& ours_ms,
             const std::vector<double>& peer_ms) {
  Row row;
  row.what = std::move(what);
  row.unit = "ms";
  row.peer_name = std::move(peer_name);
  row.ours = ours_ms.empty() ? kUnknown : study::median(ours_ms);
  row.peer = peer_ms.empty() ? kUnknown : study::median(peer_ms);
  const Ratio ratio = ratio_of_medians(peer_ms, ours_ms);
  row.ratio = ratio.value;
  row.ci95 = ratio.ci95;
  row.ratio_is = "times as fast";
  row.ours_samples = ours_ms;
  row.peer_samples = peer_ms;
  return row;
}

void set_peer(Record& record, const std::string& name) {
  constexpr std::string_view kTorch = "torch ";
  record.machine.peer = name;
  const auto release = [](const std::string& version) {  // "+cpu" names the build
    return version.substr(0, version.find('+'));
  };
  const std::string& ours = record.machine.torch;
  if (name.starts_with(kTorch) && release(name.substr(kTorch.size())) != release(ours)) {
    record.notes.push_back(str("the peer runs ", name, ", ours is linked with torch ", ours,
                               ": the ratios compare two versions too"));
  }
}

std::string to_json(const Record& record) {
  Json out = {
      {"schema", "gyre.bench/1"},          {"what", record.what}, {"title", record.title},
      {"command", record.command},         {"date", record.date}, {"seconds", record.seconds},
      {"machine", json_of(record.machine)}};
  for (const auto& [name, value] : record.totals) {
    out[name] = number(value);
  }
  out["rows"] = Json::array();
  for (const Row& row : record.rows) {
    out["rows"].push_back(json_of(row));
  }
  if (!record.profile.empty()) {
    out["profile"] = Json::array();
    for (const OpShare& op : record.profile) {
      out["profile"].push_back(json_of(op));
    }
  }
  out["notes"] = record.notes;
  return out.dump(1);
}

std::string to_text(const Record& record) {
  const Machine& m = record.machine;
  std::string out = str(record.title, "\n", m.cpu, "; kernels ", m.isa, "; ", m.threads,
                        m.threads == 1 ? " thread" : " threads", "; torch ", m.torch, "; ",
                        format_duration(record.seconds), "\n\n");
  std::vector<Cells> rows = {
      {"what", "ours", "peer", "ratio (95 %)", "unit", "ratio is", "peer is", ""}};
  for (const Row& row : record.rows) {
    rows.push_back({row.what, cell(row.ours), cell(row.peer), ratio_cell(row), row.unit,
                    row.peer_name.empty() ? "" : row.ratio_is, row.peer_name, row.note});
  }
  out += aligned(rows, 4);
  if (!record.profile.empty()) {
    out += profile_text(record);
  }
  for (const std::string& note : record.notes) {
    out += "\n" + note;
  }
  return out + (record.notes.empty() ? "" : "\n");
}

}  // namespace gyre::bench

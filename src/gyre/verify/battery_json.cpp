#include "gyre/verify/battery_json.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "gyre/base/error.h"

namespace gyre::verify {
namespace {

using Json = nlohmann::ordered_json;

Json number(double value) {
  return std::isfinite(value) ? Json(value) : Json(nullptr);
}

Json numbers(const std::vector<double>& values) {
  Json out = Json::array();
  for (const double value : values) {
    out.push_back(number(value));
  }
  return out;
}

Json to_object(const Check& check) {
  Json curves = Json::array();
  for (const Curve& curve : check.result.curves) {
    curves.push_back(Json{{"name", curve.name},
                          {"x_label", curve.x_label},
                          {"y_label", curve.y_label},
                          {"x", numbers(curve.x)},
                          {"y", numbers(curve.y)}});
  }
  return Json{{"id", check.id},
              {"claim", check.claim},
              {"title", check.title},
              {"passed", check.result.passed},
              {"worst", number(check.result.worst)},
              {"tolerance", check.result.tolerance},
              {"where", check.result.where},
              {"note", check.result.note},
              {"source", check.source},
              {"curves", std::move(curves)}};
}

std::string padded(std::string text, size_t width) {
  text.resize(std::max(text.size() + 1, width), ' ');
  return text;
}

std::string exponent(double value) {
  if (std::isnan(value)) {
    return "-";
  }
  if (std::isinf(value)) {
    return "overflow";
  }
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, value == 0.0 ? "0" : "%.1e", value);
  return buffer;
}

std::string checks_text(const Verification& v) {
  std::string out = padded("check", 26) + padded("claim", 31) + padded("worst", 10) +
                    padded("allowed", 10) + "result\n";
  for (const Check& check : v.checks) {
    out += padded(check.id, 26) + padded(check.claim, 31) +
           padded(exponent(check.result.worst), 10) + padded(exponent(check.result.tolerance), 10) +
           (check.result.passed ? "ok" : "FAILED") + "\n";
    out += check.result.passed ? "" : "    " + check.title + ": " + check.result.where + "\n";
  }
  return out;
}

std::string precision_text(const PrecisionTable& table) {
  if (table.rows.empty()) {
    return "";
  }
  std::string out = "\nLargest error of a cosine or sine, head dim 128, base 10000, by position\n" +
                    padded("", 27);
  for (const int64_t position : table.positions) {
    out += padded(std::to_string(position), 9);
  }
  out += "\n";
  for (const PrecisionRow& row : table.rows) {
    out += padded(row.method, 27);
    for (const double worst : row.worst) {
      out += padded(exponent(worst), 9);
    }
    out += "\n";
  }
  return out + "The two tables on top are gyre's; the rest are shortcuts met elsewhere.\n";
}

std::string faults_text(const std::vector<FaultRow>& faults) {
  if (faults.empty()) {
    return "";
  }
  std::string out = "\n" + padded("fault", 29) + "caught by\n";
  for (const FaultRow& fault : faults) {
    std::string line = padded(fault.name, 29);
    const size_t n = fault.caught_by.size();
    for (size_t i = 0; i < std::min<size_t>(n, 3); ++i) {
      line += (i == 0 ? "" : ", ") + fault.caught_by[i];
    }
    line += fault.missed() ? "NOTHING"
            : fault.needs_tokens > 0
                ? str("not shown: needs more than ", fault.needs_tokens, " tokens")
            : n > 3 ? str(" and ", n - 3, " more")
                    : "";
    out += line + "\n";
  }
  return out;
}

std::string outcome(const Verification& v) {
  const auto failed = std::count_if(v.checks.begin(), v.checks.end(),
                                    [](const Check& check) { return !check.result.passed; });
  const auto missed = std::count_if(v.faults.begin(), v.faults.end(),
                                    [](const FaultRow& fault) { return fault.missed(); });
  const auto unseen = std::count_if(v.faults.begin(), v.faults.end(),
                                    [](const FaultRow& fault) { return fault.needs_tokens > 0; });
  const auto tried = static_cast<std::ptrdiff_t>(v.faults.size()) - unseen;
  const auto n = static_cast<std::ptrdiff_t>(v.checks.size());
  std::string out = str("\n", v.subject, v.fault.empty() ? "" : " with the fault " + v.fault, ": ",
                        n - failed, " of ", n, " checks passed");
  if (!v.faults.empty()) {
    out += str(", ", tried - missed, " of ", tried, " faults caught");
    out += unseen > 0 ? str(", ", unseen, " not shown in so few tokens") : "";
  }
  return out + str(" in ", std::round(v.seconds * 10.0) / 10.0, " s\n");
}

}  // namespace

std::string to_json(const Verification& v) {
  Json checks = Json::array(), rows = Json::array(), faults = Json::array();
  for (const Check& check : v.checks) {
    checks.push_back(to_object(check));
  }
  for (const PrecisionRow& row : v.precision.rows) {
    rows.push_back(Json{{"method", row.method}, {"kind", row.kind}, {"worst", numbers(row.worst)}});
  }
  for (const FaultRow& fault : v.faults) {
    faults.push_back(Json{{"name", fault.name},
                          {"summary", fault.summary},
                          {"caught_by", fault.caught_by},
                          {"shown", fault.needs_tokens == 0},
                          {"needs_more_tokens_than",
                           fault.needs_tokens > 0 ? Json(fault.needs_tokens) : Json(nullptr)}});
  }
  return Json{{"schema", "gyre.verify/1"},
              {"subject", v.subject},
              {"fault", v.fault},
              {"passed", passed(v)},
              {"seconds", v.seconds},
              {"checks", std::move(checks)},
              {"precision", Json{{"positions", v.precision.positions}, {"rows", std::move(rows)}}},
              {"faults", std::move(faults)}}
      .dump(1);
}

std::string to_text(const Verification& v) {
  return checks_text(v) + precision_text(v.precision) + faults_text(v.faults) + outcome(v);
}

bool passed(const Verification& v) {
  return all_passed(v.checks) && std::none_of(v.faults.begin(), v.faults.end(),
                                              [](const FaultRow& fault) { return fault.missed(); });
}

}  // namespace gyre::verify

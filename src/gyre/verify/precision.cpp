#include "gyre/verify/precision.h"

#include <c10/util/BFloat16.h>
#include <c10/util/Half.h>

#include <algorithm>

#include "gyre/verify/probe.h"

namespace gyre::verify {
namespace {

double bf16(double x) {
  return static_cast<double>(static_cast<float>(c10::BFloat16(static_cast<float>(x))));
}
double fp16(double x) {
  return static_cast<double>(static_cast<float>(c10::Half(static_cast<float>(x))));
}
double fp32(double x) {
  return static_cast<double>(static_cast<float>(x));
}

// How a method makes cos (and sin) of position p and frequency theta.
struct Method {
  const char* name;
  double (*angle)(double p, double theta);
  double (*stored)(double value);
};

const Method kShortcuts[] = {
    {"float16 table, cast last", [](double p, double t) { return p * t; }, fp16},
    {"bfloat16 table, cast last", [](double p, double t) { return p * t; }, bf16},
    {"float32 angles", [](double p, double t) { return fp32(fp32(p) * fp32(t)); }, fp32},
    {"float16 angles", [](double p, double t) { return fp16(p * fp16(t)); }, fp32},
    {"float16 positions", [](double p, double t) { return fp16(p) * t; }, fp32},
    {"bfloat16 frequencies", [](double p, double t) { return fp32(fp32(p) * bf16(t)); }, fp32},
    {"bfloat16 positions", [](double p, double t) { return fp32(bf16(p) * fp32(t)); }, fp32},
    {"bfloat16 angles", [](double p, double t) { return bf16(bf16(p) * bf16(t)); }, fp32},
};

PrecisionRow of_subject(const Subject& subject, const char* name, bool exact_table,
                        const std::vector<double>& bands, const std::vector<int64_t>& positions) {
  PrecisionRow row{name, "gyre", {}};
  const TableRows table = table_rows(subject, plan_of(bands, 128), positions, exact_table);
  for (size_t t = 0; t < positions.size(); ++t) {
    double worst = 0.0;
    for (size_t m = 0; m < bands.size(); ++m) {
      worst = std::max({worst, std::abs(table.cos[t][m] - exact_cos(bands[m], positions[t])),
                        std::abs(table.sin[t][m] - exact_sin(bands[m], positions[t]))});
    }
    row.worst.push_back(worst);
  }
  return row;
}

PrecisionRow of_method(const Method& method, const std::vector<double>& bands,
                       const std::vector<int64_t>& positions) {
  PrecisionRow row{method.name, "shortcut", {}};
  for (const int64_t position : positions) {
    double worst = 0.0;
    for (const double theta : bands) {
      const double angle = method.angle(static_cast<double>(position), theta);
      if (!std::isfinite(angle)) {  // float16 ends at 65504
        worst = INFINITY;
        break;
      }
      worst =
          std::max({worst, std::abs(method.stored(std::cos(angle)) - exact_cos(theta, position)),
                    std::abs(method.stored(std::sin(angle)) - exact_sin(theta, position))});
    }
    row.worst.push_back(worst);
  }
  return row;
}

}  // namespace

PrecisionTable precision_table(const Subject& subject) {
  PrecisionTable table;
  table.positions = {1, 255, 257, 2047, 4095, 32767, 65535, 131071, 1000000};
  const auto bands = geometric(10000.0, 64, 128);
  table.rows.push_back(of_subject(subject, "float64 table", true, bands, table.positions));
  table.rows.push_back(of_subject(subject, "float32 table", false, bands, table.positions));
  for (const Method& method : kShortcuts) {
    table.rows.push_back(of_method(method, bands, table.positions));
  }
  return table;
}

}  // namespace gyre::verify

// Tables that depend on the length of the sequence (dynamic NTK, longrope): query and cached key
// must use one table, that of the length at hand.
#include "gyre/verify/probe.h"

namespace gyre::verify {
namespace {

struct Meeting {
  int64_t key, query;  // positions
  TableLengths lengths;
};

// Relative phase of one band through the subject: the key's table by table_length, the query's by
// the present length.
double relative_phase(const Subject& subject, const Meeting& at,
                      const std::function<double(int64_t length)>& theta) {
  const Rows unit = repeated({1.0, 0.0}, 1);
  const double key_theta = theta(subject.table_length(at.lengths));
  const Rows k = rotated(subject, {unit, unit}, {at.key}, plan_of({key_theta}, 2)).k;
  const Rows q = rotated(subject, {unit, unit}, {at.query}, plan_of({theta(at.lengths.now)}, 2)).q;
  const double c = q.at(0, 0, 0, 0) * k.at(0, 0, 0, 0) + q.at(0, 0, 0, 1) * k.at(0, 0, 0, 1);
  const double s = q.at(0, 0, 0, 1) * k.at(0, 0, 0, 0) - q.at(0, 0, 0, 0) * k.at(0, 0, 0, 1);
  return std::atan2(s, c);
}

// b (s L / M - (s - 1))^(d / (d - 2)) beyond M = 4096; s 2, b 1e4, d 128.
double dynamic_base(int64_t length) {
  const double stretch = std::max(1.0, 2.0 * static_cast<double>(length) / 4096.0 - 1.0);
  return 1e4 * std::pow(stretch, 128.0 / 126.0);
}

void dynamic_ntk(const Subject& subject, Tally& tally) {  // transformers#25104
  tally.at_most(std::abs(dynamic_base(4097) - 10004.960), 5e-4, "case 12: base at 4097");
  tally.at_most(std::abs(dynamic_base(6144) - 20221.262), 5e-4, "case 12: base at 6144");
  tally.at_most(std::abs(dynamic_base(8192) - 30527.737), 5e-4, "case 12: base at 8192");
  const auto pair63 = [](int64_t length) { return std::pow(dynamic_base(length), -126.0 / 128.0); };
  const Meeting meeting{4000, 8191, {4096, 8192, 8192}};
  tally.at_most(std::abs(relative_phase(subject, meeting, pair63) - 0.161323), 5.1e-7,
                "case 12: pair 63, key 4000, query 8191");
  const double mixed = 8191.0 * pair63(8192) - 4000.0 * pair63(4096);
  tally.at_most(std::abs(mixed + 0.146619), 5.1e-7, "case 12: what mixed bases give");
  const Meeting short_one{100, 200, {101, 201, 8192}};
  tally.at_most(std::abs(relative_phase(subject, short_one, pair63) - 100.0 * pair63(201)), 1e-12,
                "case 12: a short sequence in a large cache");
}

// Phi-3-mini-128k, d 96, base 1e4, original length 4096: frequencies of two pairs after the short
// and the long factors of its published config.json.
double pair20(int64_t length) {
  return std::pow(1e4, -40.0 / 96.0) / (length > 4096 ? 15.789999961853027 : 2.0);
}
double pair47(int64_t length) {
  return std::pow(1e4, -94.0 / 96.0) / (length > 4096 ? 64.81001281738281 : 3.05);
}

void two_lists(const Subject& subject, Tally& tally) {  // transformers PR#33129, llama.cpp#8995
  const Meeting meeting{4000, 4100, {4001, 4101, 8192}};
  tally.at_most(std::abs(relative_phase(subject, meeting, pair20) - 0.136443), 5.1e-7,
                "case 13: pair 20, key 4000, query 4100");
  tally.at_most(std::abs(relative_phase(subject, meeting, pair47) - 0.000187), 5.1e-7,
                "case 13: pair 47, key 4000, query 4100");
  tally.at_most(std::abs(4100.0 * pair20(4101) - 4000.0 * pair20(4000) + 37.494532), 5.1e-7,
                "case 13: pair 20 when mixed");
  tally.at_most(std::abs(4100.0 * pair47(4101) - 4000.0 * pair47(4000) + 0.151225), 5.1e-7,
                "case 13: pair 47 when mixed");
  tally.at_most(std::abs(pair47(10) - 3.97222183e-05), 5e-14, "case 14: short list");
  tally.at_most(std::abs(pair47(8192) - 1.86935260e-06), 5e-15, "case 14: long list");
  const Meeting prompt{0, 9, {1, 10, 8192}};
  tally.at_most(std::abs(relative_phase(subject, prompt, pair47) - 9.0 * 3.97222183e-05), 1e-12,
                "case 14: 10 tokens in a cache of 8192");
  const int64_t chosen = subject.table_length({10, 10, 8192});
  tally.require(chosen <= 4096, "case 14: 10 tokens in a cache of 8192 take the list of length ",
                chosen);
}

CheckResult run(const Subject& subject) {
  Tally tally;
  dynamic_ntk(subject, tally);
  two_lists(subject, tally);
  return tally.result(
      "dynamic NTK pair 63: 0.161323 rad, mixed bases -0.146619; longrope pair 20: "
      "0.136443, mixed -37.494532");
}

}  // namespace

Identity length_dependent_tables() {
  return {"length-dependent-tables", "P18, cases 12, 13, 14", "One table for query and cached key",
          "transformers#25104, PR#33129, llama.cpp#8995; tolerances: printed digits", run};
}

}  // namespace gyre::verify

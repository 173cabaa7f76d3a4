// Samples and probes made by hand for the tests of level 1.
#pragma once

#include <string>
#include <vector>

#include "gyre/accept/level1/probe.h"

namespace gyre::accept::testing {

/// A roll call of 16 stripes in a prompt of `tokens` tokens (4 bytes each), answered with the codes
/// whose letter in `shape` is x; NONE for the others.
inline Sample roll_call(const std::string& shape, int64_t tokens = 1000) {
  static const char* const kCodes[] = {
      "KX7-3QD", "ABC-234", "DEF-567", "GHJ-89K", "MNP-QRS", "TWX-YZ2", "345-678", "9AB-CDE",
      "FGH-JKM", "NPQ-RST", "WXY-Z23", "456-789", "ACE-GJM", "PRT-X24", "679-BDF", "HKN-QSW"};
  Sample sample;
  Item& item = sample.item;
  item.sid = "s" + shape + std::to_string(tokens);
  item.form = AnswerForm::Numbered;
  item.ask.messages = {{"user", std::string(size_t(4 * tokens), 'x')}};
  item.ask.max_tokens = 128;
  for (size_t i = 0; i < shape.size(); ++i) {
    item.gold.push_back(kCodes[i]);
    const auto at = int64_t((double(i) + 0.5) / double(shape.size()) * double(tokens));
    item.evidence.push_back({(double(i) + 0.5) / double(shape.size()), at, tokens - at});
    sample.reply.text +=
        std::to_string(i + 1) + ": " + (shape[i] == 'x' ? kCodes[i] : "NONE") + "\n";
  }
  sample.reply.http = 200;
  sample.reply.finish = "stop";
  sample.reply.prompt_tokens = tokens;
  sample.verdict = Verdict::Ok;
  return sample;
}

inline Calibration four_bytes() {
  Calibration calibration;
  calibration.source = "usage";
  return calibration;
}

inline Seen seen(const std::string& shape, int64_t tokens = 1000) {
  return see(roll_call(shape, tokens), four_bytes());
}

/// A size whose roll call had that shape.
inline Probe probe(const std::string& shape, int64_t tokens, Loss loss) {
  const Seen read = seen(shape, tokens);
  Probe made;
  made.length = tokens + 128;
  made.rung = made.length;
  made.planned = true;
  made.tokens = tokens;
  made.answer = 128;
  made.reported = tokens;
  made.loss = loss;
  made.stripes = read.stripes;
  made.stripes_n = read.stripes.size();
  made.read.assign(made.stripes_n, -1);
  made.evidence = {read.sid()};
  place_gap(made, read);
  return made;
}

inline Probe counted(Probe probe, int64_t reported) {
  probe.reported = reported;
  probe.counted_less = true;
  return probe;
}

}  // namespace gyre::accept::testing

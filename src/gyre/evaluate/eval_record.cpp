#include "gyre/evaluate/eval_record.h"

#include <cstdio>
#include <nlohmann/json.hpp>

#include "gyre/base/error.h"

namespace gyre::evaluate {
namespace {

using Json = nlohmann::ordered_json;

/// printf into a string; null prints as "-".
std::string fixed(const Json& value, const char* format) {
  if (!value.is_number()) {
    return "-";
  }
  char buffer[64];
  std::snprintf(buffer, sizeof(buffer), format, value.get<double>());
  return buffer;
}

std::string pad(std::string text, size_t width) {
  text.insert(0, width > text.size() ? width - text.size() : 0, ' ');
  return text;
}

std::string length_lines(const Json& lengths) {
  if (lengths.empty()) {
    return "";
  }
  std::string out = "\n  length   windows      loss       ppl    tokens\n";
  for (const Json& entry : lengths) {
    out += pad(fixed(entry.at("length"), "%.0f"), 8) + "  " +
           pad(entry.at("windows").get<std::string>(), 8) +
           pad(fixed(entry.at("loss"), "%.4f"), 10) + pad(fixed(entry.at("ppl"), "%.3f"), 10) +
           pad(fixed(entry.at("n_tokens"), "%.0f"), 10) +
           (entry.contains("skipped") ? "  skipped" : "") + "\n";
  }
  return out;
}

std::string needle_lines(const Json& cells) {
  if (cells.empty()) {
    return "";
  }
  std::string out = "\n  distractors  accuracy   95 % interval  chance  no evidence  worst depth\n";
  for (const Json& cell : cells) {
    const Json &ci = cell.at("ci95"), &worst = cell.at("worst_bucket");
    out += pad(fixed(cell.at("distractors"), "%.0f"), 13) +
           pad(fixed(cell.at("accuracy"), "%.3f"), 10) + "  " +
           pad(fixed(ci[0], "%.3f") + " - " + fixed(ci[1], "%.3f"), 14) +
           pad(fixed(cell.at("chance"), "%.3f"), 8) +
           pad(fixed(cell.at("no_evidence").at("accuracy"), "%.3f"), 13) +
           pad(fixed(worst.at("accuracy"), "%.3f"), 9) + " at " + fixed(worst.at("begin"), "%.1f") +
           "-" + fixed(worst.at("end"), "%.1f") + "\n";
  }
  return out;
}

std::string band_lines(const Json& bands) {
  if (bands.is_null()) {
    return "\nbands: nothing rotates\n";
  }
  const Json& dominant = bands.at("dominant");
  std::string out = "\nbands: ";
  if (dominant.is_null()) {
    out += "none contributes";
  } else {
    out += str("dominant ", dominant.at("band").get<int64_t>(), ", wavelength ",
               fixed(dominant.at("wavelength"), "%.1f"),
               " tokens = ", fixed(dominant.at("over_train_length"), "%.2f"),
               " x training length, ", fixed(dominant.at("ratio"), "%.2f"), " x the next; ",
               fixed(bands.at("effective_bands"), "%.1f"), " effective bands");
  }
  return out + str("; ", bands.at("suppressed").size(), " suppressed, ",
                   bands.at("gathered").get<int64_t>(), " at 1.8-2.4 x training length\n");
}

}  // namespace

bool same_evaluation(std::string_view eval_json, const train::Run& run,
                     const std::string& corpus_hash, const EvalOptions& options) {
  const Json old = Json::parse(eval_json, nullptr, false);
  if (!old.is_object()) {
    return false;
  }
  EvalOptions copy = options;
  return old.value("schema", "") == "gyre.eval/1" &&
         old.value("step", int64_t{-1}) == run.manifest.step &&
         old.value("seed", int64_t{-1}) == run.manifest.seed &&
         old.value("scheme", "") == run.manifest.scheme &&
         old.value("corpus_hash", "") == corpus_hash &&
         old.value("options", Json()) == Json::parse(fields_to_json(fields_of(copy)));
}

std::string eval_table(std::string_view eval_json) {
  const Json eval = Json::parse(eval_json);
  const Json& val = eval.at("val");
  std::string out =
      str(eval.at("scheme").get<std::string>(), ", step ", eval.at("step").get<int64_t>(),
          ", training length ", eval.at("train_length").get<int64_t>(), "\n");
  out += "validation: loss " + fixed(val.at("loss"), "%.4f") + " nats/token, ppl " +
         fixed(val.at("ppl"), "%.3f") + ", " + fixed(val.at("bits_per_byte"), "%.4f") +
         " bits/byte over " + fixed(val.at("n_tokens"), "%.0f") + " tokens\n";
  out += length_lines(eval.at("lengths")) + needle_lines(eval.at("needle")) +
         band_lines(eval.at("bands"));
  for (const Json& note : eval.at("notes")) {
    out += "note: " + note.get<std::string>() + "\n";
  }
  return out;
}

}  // namespace gyre::evaluate

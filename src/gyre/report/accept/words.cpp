// Names of tasks, settings, controls and verdicts as people read them; links to failures.
#include <algorithm>
#include <cmath>
#include <sstream>

#include "gyre/base/error.h"
#include "gyre/report/accept/parts.h"

namespace gyre::report {
namespace {

using accept::Acceptance;
using accept::BucketResult;
using accept::Status;

std::string counted(const std::string& n, const std::string& one) {
  return n == "1" ? "1 " + one : n + " " + one + "s";
}

// What a setting means; "" where it is as everywhere.
std::string dial_words(const std::string& name, const std::string& value) {
  if (name == "k") {
    return value == "0" ? "no distractor" : counted(value, "distractor");
  }
  if (name == "s") {
    return value == "-" ? "" : "likeness " + value + " of 5";
  }
  if (name == "m") {
    return counted(value, "part");
  }
  if (name == "h") {
    return counted(value, "hop");
  }
  if (name == "candidates") {
    return counted(value, "candidate");
  }
  const std::map<std::string, std::string> words{{"o none", "asked in other words"},
                                                 {"o full", ""},
                                                 {"qpos start", "question first"},
                                                 {"qpos end", ""},
                                                 {"v near", "near codes"},
                                                 {"v far", ""},
                                                 {"bucket distance", ""}};
  const auto at = words.find(name + " " + value);
  return at != words.end() ? at->second : name + " " + value;
}

}  // namespace

std::string dials_words(const std::map<std::string, std::string>& dials) {
  std::string out;
  for (const auto& [name, value] : dials) {
    const std::string words = dial_words(name, value);
    out += words.empty() ? "" : ", " + words;
  }
  return out;
}

std::string label_words(const std::string& label) {
  std::istringstream in(label);
  std::string out, word;
  in >> out;
  std::map<std::string, std::string> dials;
  while (in >> word) {
    const size_t equal = word.find('=');
    if (equal == std::string::npos) {
      return label;
    }
    dials[word.substr(0, equal)] = word.substr(equal + 1);
  }
  return out + dials_words(dials);
}

std::string arm_words(const std::string& arm) {
  const std::map<std::string, std::string> words{
      {"main", ""},           {"short", "without filler"}, {"noev", "no evidence"},
      {"swap", "other code"}, {"alone", "question alone"}, {"reseed", "other filler"}};
  const auto at = words.find(arm);
  return at != words.end() ? at->second : arm;
}

std::string spaced(std::string word) {
  std::replace(word.begin(), word.end(), '_', ' ');
  return word;
}

double share_of(const BucketResult& bucket) {
  return bucket.n > 0 ? static_cast<double>(bucket.correct) / static_cast<double>(bucket.n)
                      : std::nan("");
}

std::string range_text(double lo, double hi, int digits) {
  if (!std::isfinite(lo) || !std::isfinite(hi)) {
    return "\u2013";
  }
  return fixed(lo, digits) + (lo < 0 || hi < 0 ? " to " : "\u2013") + fixed(hi, digits);
}

std::string bucket_text(const BucketResult& bucket) {
  return bucket.n == 0
             ? "not asked"
             : str(fixed(share_of(bucket), 2), " (", range_text(bucket.lower, bucket.upper, 2),
                   "), ", bucket.correct, " of ", bucket.n);
}

const char* look_of(Status status) {
  return status == Status::Pass ? "better" : status == Status::Fail ? "worse" : "even";
}

std::string status_html(Status status) {
  return str("<span class=\"finding ", look_of(status), "\">", accept::name_of(status), "</span>");
}

std::string level_line(const Acceptance& a, int64_t level) {
  for (const accept::LevelVerdict& one : a.levels) {
    if (one.level == level) {
      return str("<p class=\"level\"><b class=\"", look_of(one.status), "\">",
                 accept::name_of(one.status), "</b> ", escape(one.says),
                 one.worst.empty() ? "" : ". Worst: " + escape(one.worst), ".</p>\n");
    }
  }
  return "";
}

SidLinks::SidLinks(const Acceptance& a) {
  for (const accept::Sample* sample : listed_failures(a)) {
    listed_.insert(sample->item.sid);
  }
}

std::string SidLinks::operator()(const std::vector<std::string>& sids, size_t most) const {
  std::string out;
  for (size_t i = 0; i < std::min(most, sids.size()); ++i) {
    const std::string name = "<code>" + escape(sids[i].substr(0, 8)) + "</code>";
    out += i == 0 ? "" : " ";
    out += listed_.count(sids[i]) > 0 ? "<a href=\"#sid-" + escape(sids[i]) + "\">" + name + "</a>"
                                      : "<span title=\"" + escape(sids[i]) +
                                            ", not in the list of failures\">" + name + "</span>";
  }
  return sids.size() > most ? out + str(" and ", sids.size() - most, " more") : out;
}

}  // namespace gyre::report

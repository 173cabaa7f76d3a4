// The plan for people and as JSON, schema gyre.accept_plan/1.
#include <algorithm>
#include <cstdio>
#include <iomanip>
#include <nlohmann/json.hpp>
#include <sstream>

#include "gyre/accept/plan.h"
#include "gyre/accept/result_words.h"
#include "gyre/base/error.h"
#include "gyre/base/progress.h"

namespace gyre::accept {
namespace {

using Json = nlohmann::ordered_json;

Json row_json(const PlanRow& row) {
  Json out{{"what", row.what},
           {"requests", row.requests},
           {"prompt_tokens", row.prompt_tokens},
           {"answer_tokens", row.answer_tokens}};
  out["seconds"] = row.seconds < 0 ? Json() : Json(row.seconds);
  out["money"] = row.money < 0 ? Json() : Json(row.money);
  return out;
}

Json known(double value) {
  return value < 0 ? Json() : Json(value);
}

std::string shown(const char* format, double value) {
  char text[48];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

/// Widths of the columns of counts, as wide as the sums.
struct Widths {
  int requests = 9, prompt = 14, answer = 11;
  explicit Widths(const PlanRow& most) {
    const auto fit = [](int& width, int64_t value) {
      width = std::max(width, static_cast<int>(grouped(value).size()) + 2);
    };
    fit(requests, most.requests);
    fit(prompt, most.prompt_tokens);
    fit(answer, most.answer_tokens);
  }
};

void write_row(std::ostream& out, const PlanRow& row, const Widths& width) {
  out << "  " << std::left << std::setw(50) << row.what << std::right << std::setw(width.requests)
      << grouped(row.requests) << std::setw(width.prompt) << grouped(row.prompt_tokens)
      << std::setw(width.answer) << grouped(row.answer_tokens);
  if (row.seconds >= 0) {
    out << "  " << format_duration(row.seconds);
  }
  if (row.money >= 0) {
    out << "  " << shown("%.2f", row.money);
  }
  out << '\n';
}

}  // namespace

std::string to_json(const Plan& plan) {
  Json rows = Json::array();
  for (const PlanRow& row : plan.rows) {
    rows.push_back(row_json(row));
  }
  Json out{{"schema", "gyre.accept_plan/1"},
           {"least", row_json(plan.least)},
           {"most", row_json(plan.most)},
           {"ask_above", plan.ask_above},
           {"rows", std::move(rows)}};
  out["kv_bytes"] = known(plan.kv_bytes);
  out["least_flops"] = known(plan.least_flops);
  out["most_flops"] = known(plan.most_flops);
  return out.dump(1);
}

std::string to_text(const Plan& plan) {
  std::ostringstream out;
  const Widths width(plan.most);
  out << "  " << std::left << std::setw(50) << "what" << std::right << std::setw(width.requests)
      << "requests" << std::setw(width.prompt) << "prompt tokens" << std::setw(width.answer)
      << "answers" << (plan.most.seconds >= 0 ? "  time" : "")
      << (plan.most.money >= 0 ? "  money" : "") << '\n';
  for (const PlanRow& row : plan.rows) {
    write_row(out, row, width);
  }
  out << '\n';
  write_row(out, plan.least, width);
  write_row(out, plan.most, width);
  constexpr double kMiB = 1 << 20, kTera = 1e12;
  if (plan.kv_bytes >= 0) {
    out << "  cache of keys and values at the longest length: "
        << shown("%.0f MiB", plan.kv_bytes / kMiB) << "; "
        << shown("%.1f", plan.least_flops / kTera) << " to "
        << shown("%.1f TFLOP", plan.most_flops / kTera) << '\n';
  }
  if (plan.most.seconds < 0) {
    out << "  time: not known; a folder with earlier answers in --out tells it\n";
  }
  if (plan.most.money < 0) {
    out << "  money: not known; give --price-in and --price-out\n";
  }
  return out.str();
}

}  // namespace gyre::accept

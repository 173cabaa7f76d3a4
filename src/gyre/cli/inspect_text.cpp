#include "gyre/cli/inspect_text.h"

#include <iomanip>
#include <iostream>
#include <nlohmann/json.hpp>

#include "gyre/base/error.h"
#include "gyre/base/files.h"
#include "gyre/model/tokenizer/compare.h"

namespace gyre::cli {
namespace {

using Json = nlohmann::ordered_json;
using model::TokenizerComparison;
using model::TokenizerUse;

/// Text as a JSON string: control characters and bytes that are no UTF-8 cannot reach a terminal.
std::string quoted(const std::string& text) {
  return Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string joined(const std::vector<std::string>& pieces) {
  std::string out;
  for (const std::string& piece : pieces) {
    out += (out.empty() ? "" : " ") + quoted(piece);
  }
  return out;
}

void print_side(const char* name, const std::string& path, const TokenizerUse& use) {
  std::cout << name << "  " << path << ": " << use.kind << ", vocabulary " << use.vocab << '\n'
            << "   " << use.n_tokens << " tokens, " << std::fixed << std::setprecision(3)
            << use.bytes_per_token << " bytes per token, "
            << (use.bytes_per_token > 0 ? 1.0 / use.bytes_per_token : 0.0) << " tokens per byte\n";
  if (use.bits_per_byte) {
    std::cout << "   " << *use.bits_per_byte << " bits per byte\n";
  }
  if (!use.keeps_text) {
    std::cout << "   its tokens do not give the text back: they differ from byte "
              << use.first_change << " on\n";
  }
}

void print(const TokenizerComparison& found, const std::string& a, const std::string& b) {
  std::cout << found.n_bytes << " bytes of text\n";
  print_side("A", a, found.a);
  print_side("B", b, found.b);
  std::cout << "vocabularies share " << found.shared_pieces << " token texts\n";
  if (found.same_ids) {
    std::cout << "same ids throughout\n";
    return;
  }
  if (!found.cuts_compared) {
    std::cout << "cuts are not compared: that needs two tokenizers that give the text back\n";
    return;
  }
  std::cout << "cuts: " << found.a.n_cuts << " of A, " << found.b.n_cuts << " of B, "
            << found.shared_cuts << " shared; " << found.n_differences
            << " stretches are cut differently\n";
  for (const model::CutDifference& one : found.differences) {
    std::cout << "  bytes " << one.begin << "-" << one.end << ", after " << quoted(one.before)
              << "\n    A " << joined(one.a) << "\n    B " << joined(one.b) << '\n';
  }
  if (found.n_differences == 0) {
    std::cout << "  same cuts, other ids\n";
  }
}

Json side_to_json(const std::string& path, const TokenizerUse& use) {
  Json json{{"path", path},
            {"kind", use.kind},
            {"vocab", use.vocab},
            {"tokens", use.n_tokens},
            {"bytes_per_token", use.bytes_per_token},
            {"keeps_text", use.keeps_text},
            {"first_change", use.first_change},
            {"cuts", use.n_cuts}};
  json["bits_per_byte"] = use.bits_per_byte ? Json(*use.bits_per_byte) : Json();
  return json;
}

std::string to_json(const TokenizerComparison& found, const std::string& a, const std::string& b,
                    const std::string& text_file) {
  Json differences = Json::array();
  for (const model::CutDifference& one : found.differences) {
    differences.push_back(Json{{"begin", one.begin},
                               {"end", one.end},
                               {"before", one.before},
                               {"after", one.after},
                               {"a", one.a},
                               {"b", one.b}});
  }
  return Json{{"schema", "gyre.inspect-text/1"},
              {"text", text_file},
              {"bytes", found.n_bytes},
              {"a", side_to_json(a, found.a)},
              {"b", side_to_json(b, found.b)},
              {"same_ids", found.same_ids},
              {"cuts_compared", found.cuts_compared},
              {"shared_cuts", found.shared_cuts},
              {"different_stretches", found.n_differences},
              {"differences", std::move(differences)},
              {"shared_pieces", found.shared_pieces}}
      .dump(1, ' ', false, Json::error_handler_t::replace);
}

TextLoss& text_loss() {
  static TextLoss loss;
  return loss;
}

}  // namespace

void use_text_loss(TextLoss loss) {
  text_loss() = std::move(loss);
}

int inspect_text(const std::string& a, const std::string& b, const std::string& text_file,
                 bool with_loss, const CommonOptions& common) {
  const auto first = model::load_tokenizer(a);
  const auto second = model::load_tokenizer(b);
  const std::string text = read_file(text_file);
  TokenizerComparison found = model::compare_tokenizers(*first, *second, text);
  if (with_loss) {
    found.a.bits_per_byte = text_loss()(a, text);
    found.b.bits_per_byte = text_loss()(b, text);
  }
  if (common.json != "-") {
    print(found, quoted(a), quoted(b));
  }
  write_json(common, to_json(found, a, b, text_file));
  return found.same_ids ? 0 : exit_code(Code::CheckFailed);
}

}  // namespace gyre::cli

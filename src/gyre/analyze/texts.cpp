#include "gyre/analyze/texts.h"

#include "gyre/base/error.h"
#include "gyre/base/files.h"
#include "gyre/base/rng.h"

namespace gyre::analyze {
namespace {

constexpr const char* kProse =
#include "gyre/analyze/texts/prose.inc"
    ;
constexpr const char* kGerman =
#include "gyre/analyze/texts/german.inc"
    ;
constexpr const char* kChinese =
#include "gyre/analyze/texts/chinese.inc"
    ;
constexpr const char* kCode =
#include "gyre/analyze/texts/code.inc"
    ;

constexpr int kSums = 180;

/// Lines of exercises with right answers, the same on every machine.
std::string arithmetic() {
  Rng rng(1, "analyze/arithmetic");
  std::string out;
  for (int i = 0; i < kSums; ++i) {
    const auto a = static_cast<int64_t>(rng.below(90) + 10);
    const auto b = static_cast<int64_t>(rng.below(90) + 10);
    switch (rng.below(3)) {
      case 0:
        out += str(a, " + ", b, " = ", a + b, "\n");
        break;
      case 1:
        out += str(a + b, " - ", a, " = ", b, "\n");
        break;
      default:
        out += str(a, " * ", b % 10, " = ", a * (b % 10), "\n");
    }
  }
  return out;
}

}  // namespace

std::vector<Text> builtin_texts() {
  const std::string source = "built in";
  return {{"prose", source, kProse},
          {"german", source, kGerman},
          {"chinese", source, kChinese},
          {"code", source, kCode},
          {"arithmetic", source, arithmetic()}};
}

Text read_text(const std::filesystem::path& path) {
  Text text{path.filename().string(), path.string(), read_file(path)};
  if (text.content.empty()) {
    throw Error(Code::File, path.string(), ": is empty; give a text of a few thousand characters");
  }
  return text;
}

}  // namespace gyre::analyze

#include "gyre/model/tokenizer/byte_level.h"

#include <array>

#include "gyre/model/tokenizer/utf8.h"

namespace gyre::model {
namespace {

bool prints_as_itself(uint32_t byte) {
  return (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte <= 0xac) || byte >= 0xae;
}

constexpr uint32_t kFirstStandIn = 256;
constexpr size_t kStandIns = 68;  // bytes that do not print: U+0100, U+0101, ... in byte order

struct Alphabet {
  std::array<uint32_t, 256> character{};
  std::array<int, kFirstStandIn + kStandIns> byte{};
  Alphabet() {
    byte.fill(-1);
    uint32_t next = kFirstStandIn;
    for (uint32_t b = 0; b < 256; ++b) {
      character[b] = prints_as_itself(b) ? b : next++;
      byte[character[b]] = static_cast<int>(b);
    }
  }
};

const Alphabet& alphabet() {
  static const Alphabet one;
  return one;
}

}  // namespace

std::optional<std::string> bytes_of_level(std::string_view token) {
  std::string bytes;
  for (size_t i = 0; i < token.size();) {
    const CodePoint point = code_point(token, i);
    i += point.n_bytes;
    if (point.value >= alphabet().byte.size() || alphabet().byte[point.value] < 0) {
      return std::nullopt;
    }
    bytes += static_cast<char>(alphabet().byte[point.value]);
  }
  return bytes;
}

std::string level_of_bytes(std::string_view bytes) {
  std::string token;
  for (const char c : bytes) {
    append_utf8(token, alphabet().character[static_cast<unsigned char>(c)]);
  }
  return token;
}

}  // namespace gyre::model

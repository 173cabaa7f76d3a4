#include "gyre/model/tokenizer/base64.h"

#include <openssl/evp.h>

#include "gyre/base/error.h"

namespace gyre::model {

std::string base64_encode(std::string_view bytes) {
  std::string text((bytes.size() + 2) / 3 * 4 + 1, '\0');
  const int n = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                                reinterpret_cast<const unsigned char*>(bytes.data()),
                                static_cast<int>(bytes.size()));
  text.resize(static_cast<size_t>(n));
  return text;
}

std::string base64_decode(std::string_view text) {
  std::string bytes(text.size() / 4 * 3 + 1, '\0');
  const int n = text.size() % 4 != 0
                    ? -1
                    : EVP_DecodeBlock(reinterpret_cast<unsigned char*>(bytes.data()),
                                      reinterpret_cast<const unsigned char*>(text.data()),
                                      static_cast<int>(text.size()));
  if (n < 0) {
    throw Error(Code::Format, "base64: not valid (", text.size(), " characters)");
  }
  const size_t padding = text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0;
  bytes.resize(static_cast<size_t>(n) - padding);
  return bytes;
}

}  // namespace gyre::model

// One id per byte; the default tokenizer. Nothing to train, nothing to lose.
#include <c10/util/Exception.h>

#include "gyre/model/tokenizer/tokenizer.h"

namespace gyre::model {
namespace {

constexpr int32_t kEndOfDocument = 256;

class ByteTokenizer : public Tokenizer {
 public:
  std::string kind() const override { return "bytes"; }
  int64_t vocab() const override { return 257; }
  int64_t end_of_document() const override { return kEndOfDocument; }

  std::vector<int32_t> encode(std::string_view text) const override {
    std::vector<int32_t> ids(text.size());
    for (size_t i = 0; i < text.size(); ++i) {
      ids[i] = static_cast<unsigned char>(text[i]);
    }
    return ids;
  }

  std::string decode(const std::vector<int32_t>& ids) const override {
    std::string text;
    text.reserve(ids.size());
    for (const int32_t id : ids) {
      TORCH_CHECK_VALUE(id >= 0 && id <= kEndOfDocument, "bytes: id ", id,
                        " is outside the vocabulary of 257");
      if (id != kEndOfDocument) {
        text += static_cast<char>(id);
      }
    }
    return text;
  }

  std::string serialize() const override {
    return R"({"schema":"gyre.tokenizer/1","kind":"bytes"})";
  }
};

}  // namespace

std::unique_ptr<Tokenizer> byte_tokenizer() {
  return std::make_unique<ByteTokenizer>();
}

}  // namespace gyre::model

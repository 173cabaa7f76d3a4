// One id per byte; the default tokenizer. Nothing to train, nothing to lose.
#include "gyre/base/error.h"
#include "gyre/model/tokenizer/tokenizer.h"

namespace gyre::model {
namespace {

constexpr int32_t kEndOfDocument = 256;

class ByteTokenizer : public Tokenizer {
 public:
  std::string kind() const override { return "bytes"; }
  int64_t vocab() const override { return 257; }
  int64_t end_of_document() const override { return kEndOfDocument; }

  std::vector<int32_t> encode(std::string_view text, Specials /*none*/) const override {
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
      check(id);
      if (id != kEndOfDocument) {
        text += static_cast<char>(id);
      }
    }
    return text;
  }

  std::string piece(int32_t id) const override {
    check(id);
    return id == kEndOfDocument ? std::string() : std::string(1, static_cast<char>(id));
  }
  bool is_special(int32_t id) const override { return id == kEndOfDocument; }
  SpecialIds special_ids() const override { return {-1, {kEndOfDocument}, false, false}; }

  std::string serialize() const override {
    return R"({"schema":"gyre.tokenizer/1","kind":"bytes"})";
  }

 private:
  static void check(int32_t id) {
    if (id < 0 || id > kEndOfDocument) {
      throw Error(Code::Usage, "bytes: id ", id, " is outside the vocabulary of 257");
    }
  }
};

}  // namespace

std::unique_ptr<Tokenizer> byte_tokenizer() {
  return std::make_unique<ByteTokenizer>();
}

}  // namespace gyre::model

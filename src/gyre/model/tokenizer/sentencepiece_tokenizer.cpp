// SentencePiece model files through libsentencepiece. The model's own normalisation applies (most
// models collapse whitespace and add a leading space), so decode(encode(x)) need not give x back.
#include <c10/util/Exception.h>
#include <sentencepiece_processor.h>

#include "gyre/base/error.h"
#include "gyre/base/files.h"
#include "gyre/model/tokenizer/base64.h"
#include "gyre/model/tokenizer/sentencepiece_model.h"

namespace gyre::model {
namespace {

class SentencePieceTokenizer : public Tokenizer {
 public:
  SentencePieceTokenizer(std::string model, const std::string& origin) : model_(std::move(model)) {
    const auto status = processor_.LoadFromSerializedProto(model_);
    if (model_.empty() || !status.ok() || processor_.GetPieceSize() <= 0) {
      throw Error(Code::Format, origin, ": not a SentencePiece model (",
                  model_.empty() ? "empty file" : "libsentencepiece cannot parse it",
                  "); give a .model file or one that gyre wrote");
    }
  }

  std::string kind() const override { return "sentencepiece"; }
  int64_t vocab() const override { return processor_.GetPieceSize(); }
  int64_t end_of_document() const override {
    return processor_.eos_id() >= 0 ? processor_.eos_id() : processor_.bos_id();
  }

  std::vector<int32_t> encode(std::string_view text) const override {
    std::vector<int> ids;
    const auto status = processor_.Encode({text.data(), text.size()}, &ids);
    TORCH_CHECK_VALUE(status.ok(), "sentencepiece: cannot encode ", text.size(),
                      " bytes: ", status.ToString());
    return {ids.begin(), ids.end()};
  }

  std::string decode(const std::vector<int32_t>& ids) const override {
    for (const int32_t id : ids) {
      TORCH_CHECK_VALUE(id >= 0 && id < vocab(), "sentencepiece: id ", id,
                        " is outside the vocabulary of ", vocab());
    }
    std::string text;
    const auto status = processor_.Decode(std::vector<int>(ids.begin(), ids.end()), &text);
    TORCH_CHECK_VALUE(status.ok(), "sentencepiece: cannot decode: ", status.ToString());
    return text;
  }

  std::string serialize() const override {
    return R"({"schema":"gyre.tokenizer/1","kind":"sentencepiece","model":")" +
           base64_encode(model_) + "\"}";
  }

 private:
  std::string model_;
  sentencepiece::SentencePieceProcessor processor_;
};

}  // namespace

std::unique_ptr<Tokenizer> sentencepiece_from_bytes(std::string model, const std::string& origin) {
  return std::make_unique<SentencePieceTokenizer>(std::move(model), origin);
}

std::unique_ptr<Tokenizer> sentencepiece_tokenizer(const std::filesystem::path& path) {
  return sentencepiece_from_bytes(read_file(path), path.string());
}

}  // namespace gyre::model

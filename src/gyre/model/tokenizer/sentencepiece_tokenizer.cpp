// SentencePiece model files through libsentencepiece. The model's own normalisation applies (most
// models collapse whitespace and add a leading space), so decode(encode(x)) need not give x back.
#include <sentencepiece_processor.h>

#include <nlohmann/json.hpp>

#include "gyre/base/error.h"
#include "gyre/base/files.h"
#include "gyre/model/tokenizer/added_tokens.h"
#include "gyre/model/tokenizer/base64.h"
#include "gyre/model/tokenizer/hf_parts.h"
#include "gyre/model/tokenizer/sentencepiece_model.h"
#include "gyre/model/tokenizer/utf8.h"

namespace gyre::model {
namespace {

class SentencePieceTokenizer : public Tokenizer {
 public:
  SentencePieceTokenizer(std::string model, const std::string& origin,
                         const std::optional<SpecialIds>& known, const SideFiles& side)
      : model_(std::move(model)) {
    const auto status = processor_.LoadFromSerializedProto(model_);
    if (model_.empty() || !status.ok() || processor_.GetPieceSize() <= 0) {
      throw Error(Code::Format, origin, ": not a SentencePiece model (",
                  model_.empty() ? "empty file" : "libsentencepiece cannot parse it",
                  "); give a .model file or one that gyre wrote");
    }
    std::vector<AddedToken> controls;
    for (int id = 0; id < processor_.GetPieceSize(); ++id) {
      if (processor_.IsControl(id)) {
        AddedToken token;
        token.id = id;
        token.content = processor_.IdToPiece(id);
        token.special = true;
        controls.push_back(std::move(token));
      }
    }
    controls_ = AddedTokens(std::move(controls));
    read_ids(known, side);
  }

  std::string kind() const override { return "sentencepiece"; }
  int64_t vocab() const override { return processor_.GetPieceSize(); }
  int64_t end_of_document() const override {
    return processor_.eos_id() >= 0 ? processor_.eos_id() : processor_.bos_id();
  }

  std::vector<int32_t> encode(std::string_view text, Specials specials) const override {
    std::string storage;
    const std::string_view valid = valid_utf8(text, storage);
    std::vector<int32_t> out;
    std::vector<int> ids;
    for (const Stretch& stretch : controls_.cut(valid, specials == Specials::Parse)) {
      if (stretch.id >= 0) {
        out.push_back(stretch.id);
        continue;
      }
      const auto status =
          processor_.Encode({valid.data() + stretch.begin, stretch.end - stretch.begin}, &ids);
      if (!status.ok()) {
        throw Error(Code::Usage, "sentencepiece: cannot encode ", text.size(),
                    " bytes: ", status.ToString());
      }
      out.insert(out.end(), ids.begin(), ids.end());
    }
    return out;
  }

  std::string decode(const std::vector<int32_t>& ids) const override {
    for (const int32_t id : ids) {
      check(id);
    }
    std::string text;
    const auto status = processor_.Decode(std::vector<int>(ids.begin(), ids.end()), &text);
    if (!status.ok()) {
      throw Error(Code::Usage, "sentencepiece: cannot decode: ", status.ToString());
    }
    return text;
  }

  std::string piece(int32_t id) const override {
    check(id);
    if (processor_.IsControl(id) || processor_.IsUnknown(id)) {
      return processor_.IdToPiece(id);
    }
    DecoderPart decoder;
    decoder.byte_fallback = processor_.IsByte(id);
    decoder.replacements.emplace_back("\xe2\x96\x81", " ");
    return decoded_piece(decoder, processor_.IdToPiece(id));
  }

  bool is_special(int32_t id) const override {
    check(id);
    return processor_.IsControl(id) || processor_.IsUnknown(id);
  }
  SpecialIds special_ids() const override { return ids_; }

  std::string serialize() const override {
    const std::string model = base64_encode(model_);
    if (plain_ids_) {  // as it was before files could say otherwise: hashes of old runs hold
      return R"({"schema":"gyre.tokenizer/1","kind":"sentencepiece","model":")" + model + "\"}";
    }
    return nlohmann::ordered_json{{"schema", "gyre.tokenizer/1"},
                                  {"kind", "sentencepiece"},
                                  {"special",
                                   {{"bos", ids_.bos},
                                    {"eos", ids_.eos},
                                    {"add_bos", ids_.add_bos},
                                    {"add_eos", ids_.add_eos}}},
                                  {"model", model}}
        .dump();
  }

 private:
  void read_ids(const std::optional<SpecialIds>& known, const SideFiles& side) {
    ids_.bos = processor_.bos_id();
    if (processor_.eos_id() >= 0) {
      ids_.eos = {processor_.eos_id()};
    }
    plain_ids_ = !known && side.tokenizer_config.empty() && side.generation_config.empty() &&
                 side.config.empty();
    if (known) {
      ids_ = *known;
    } else if (!plain_ids_) {
      ids_.add_bos = ids_.bos >= 0;  // what transformers does for such models
      read_side_files(
          side,
          [&](const std::string& token) -> int64_t {
            const int id = processor_.PieceToId(token);
            return processor_.IsUnknown(id) ? -1 : id;
          },
          ids_);
    }
  }

  void check(int32_t id) const {
    if (id < 0 || id >= vocab()) {
      throw Error(Code::Usage, "sentencepiece: id ", id, " is outside the vocabulary of ", vocab());
    }
  }

  std::string model_;
  sentencepiece::SentencePieceProcessor processor_;
  AddedTokens controls_;
  SpecialIds ids_;
  bool plain_ids_ = true;
};

}  // namespace

std::unique_ptr<Tokenizer> sentencepiece_from_bytes(std::string model, const std::string& origin,
                                                    const std::optional<SpecialIds>& known,
                                                    const SideFiles& side) {
  return std::make_unique<SentencePieceTokenizer>(std::move(model), origin, known, side);
}

std::unique_ptr<Tokenizer> sentencepiece_tokenizer(const std::filesystem::path& path) {
  return sentencepiece_from_bytes(read_file(path), path.string());
}

}  // namespace gyre::model

// Text <-> token ids. Kinds: bytes; gyre's own byte-level BPE; SentencePiece model files; the
// tokenizer.json of Hugging Face models; the vocabulary inside a GGUF file. Needs no libtorch.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace gyre::model {

/// Whether a text that spells a special token, such as "<|im_end|>", means that token. Text from
/// outside is AsText, or it could end a turn; a chat template is Parse, which is what peers do when
/// nothing is said. Added tokens that are not special are found either way.
enum class Specials { AsText, Parse };

/// What a model puts around a text.
struct SpecialIds {
  int64_t bos = -1;          // -1 = it has none
  std::vector<int64_t> eos;  // each ends generation; the first one ends a document
  bool add_bos = false;      // whether a prompt begins with bos
  bool add_eos = false;
};

class Tokenizer {
 public:
  virtual ~Tokenizer() = default;
  /// "bytes", "bpe", "sentencepiece", "tokenizer.json" or "gguf".
  virtual std::string kind() const = 0;
  /// One more than the largest id.
  virtual int64_t vocab() const = 0;
  /// Id put between documents, or -1.
  virtual int64_t end_of_document() const = 0;
  /// Ids of the text alone: nothing is put before or after it (see encode_prompt). Bytes that are
  /// no UTF-8 become U+FFFD in all kinds but "bytes" and "bpe", which take any.
  virtual std::vector<int32_t> encode(std::string_view text, Specials specials) const = 0;
  std::vector<int32_t> encode(std::string_view text) const {
    return encode(text, Specials::AsText);
  }
  /// Special tokens appear as their text; Error(Usage) on an id outside the vocabulary. Bytes that
  /// the ids leave incomplete stay as they are.
  virtual std::string decode(const std::vector<int32_t>& ids) const = 0;
  /// Bytes of one token in the middle of a text; may be a part of a character.
  virtual std::string piece(int32_t id) const = 0;
  virtual bool is_special(int32_t id) const = 0;
  virtual SpecialIds special_ids() const = 0;
  /// Serialised form; load_tokenizer reads it back. The hash in run records is its SHA-256.
  virtual std::string serialize() const = 0;
};

/// The ids a model is given for a prompt: encode() with what special_ids() says to add.
std::vector<int32_t> encode_prompt(const Tokenizer& tokenizer, std::string_view text,
                                   Specials specials);

/// Text from ids that come one at a time: gives out whole characters only.
class TextStream {
 public:
  /// `after_text`: the ids continue a text, so that a leading space is part of it.
  explicit TextStream(const Tokenizer& tokenizer, bool after_text = false)
      : tokenizer_(tokenizer), begun_(after_text) {}
  /// What became complete with this id; may be empty.
  std::string push(int32_t id);
  /// What is left: bytes of a character that never ended.
  std::string finish();

 private:
  const Tokenizer& tokenizer_;
  std::string held_;
  bool begun_;
};

/// 256 ids for bytes, id 256 = end of document; vocabulary 257.
std::unique_ptr<Tokenizer> byte_tokenizer();

/// Trains byte-level BPE on the texts until `vocab` ids exist (256 bytes + end of document +
/// merges). Deterministic; ties broken by the smaller pair. Shows a progress bar.
std::unique_ptr<Tokenizer> train_bpe(const std::vector<std::string_view>& texts, int64_t vocab);

/// A SentencePiece .model file.
std::unique_ptr<Tokenizer> sentencepiece_tokenizer(const std::filesystem::path& path);

/// Reads what serialize() wrote, a tokenizer.json, a SentencePiece .model, a .gguf file, or a model
/// folder that holds one of these. Beside a tokenizer.json or .model, tokenizer_config.json,
/// generation_config.json and config.json say which ids begin and end a text. Error(Format) on
/// anything else.
std::unique_ptr<Tokenizer> load_tokenizer(const std::filesystem::path& path);

std::string tokenizer_hash(const Tokenizer& tokenizer);

}  // namespace gyre::model

#include "gyre/model/tokenizer/pipeline.h"

#include "gyre/base/error.h"
#include "gyre/model/tokenizer/utf8.h"

namespace gyre::model {
namespace {

/// One encoding: what is kept from stretch to stretch.
class Encoding {
 public:
  explicit Encoding(const Pipeline& pipeline, Specials specials)
      : pipeline_(pipeline),
        parse_(specials == Specials::Parse),
        run_(pipeline.pre_tokenizer, [this](std::string_view piece) { take(piece); }) {}

  std::vector<int32_t> operator()(std::string_view text) {
    ids_.reserve(text.size() / 3 + 8);
    for (const Stretch& stretch : pipeline_.added.cut(text, parse_)) {
      if (stretch.id >= 0) {
        ids_.push_back(stretch.id);
      } else {
        plain(text.substr(stretch.begin, stretch.end - stretch.begin), stretch.begin == 0);
      }
    }
    return std::move(ids_);
  }

 private:
  void plain(std::string_view text, bool first) {
    std::string storage;
    const std::string_view normal = normalize(pipeline_.normalizer, text, storage);
    if (pipeline_.added_normalized.empty()) {
      run_(normal, first);
      return;
    }
    for (const Stretch& stretch : pipeline_.added_normalized.cut(normal, parse_)) {
      if (stretch.id >= 0) {
        ids_.push_back(stretch.id);
      } else {
        run_(normal.substr(stretch.begin, stretch.end - stretch.begin),
             first && stretch.begin == 0);
      }
    }
  }

  void take(std::string_view piece) {
    if (!pipeline_.model.cuts()) {
      cache_.encode(pipeline_.model, piece, ids_);
      return;
    }
    for (size_t begin = 0; begin < piece.size();) {
      const size_t end = pipeline_.model.stretch_end(piece, begin);
      cache_.encode(pipeline_.model, piece.substr(begin, end - begin), ids_);
      begin = end;
    }
  }

  const Pipeline& pipeline_;
  bool parse_;
  PreTokenizer::Run run_;
  PieceCache cache_;
  std::vector<int32_t> ids_;
};

class PipelineTokenizer : public Tokenizer {
 public:
  explicit PipelineTokenizer(Pipeline pipeline) : pipeline_(std::move(pipeline)) {}

  std::string kind() const override { return pipeline_.kind; }
  int64_t vocab() const override { return static_cast<int64_t>(pipeline_.pieces.size()); }
  int64_t end_of_document() const override {
    return pipeline_.ids.eos.empty() ? pipeline_.ids.bos : pipeline_.ids.eos[0];
  }
  std::vector<int32_t> encode(std::string_view text, Specials specials) const override {
    std::string storage;
    return Encoding(pipeline_, specials)(valid_utf8(text, storage));
  }
  std::string decode(const std::vector<int32_t>& ids) const override {
    std::string text;
    for (const int32_t id : ids) {
      text += pipeline_.pieces[checked(id)];
    }
    size_t n = 0;
    while (n < pipeline_.strip_spaces && n < text.size() && text[n] == ' ') {
      ++n;
    }
    return text.substr(n);
  }
  std::string piece(int32_t id) const override { return pipeline_.pieces[checked(id)]; }
  bool is_special(int32_t id) const override { return pipeline_.special[checked(id)]; }
  SpecialIds special_ids() const override { return pipeline_.ids; }
  std::string serialize() const override { return pipeline_.serialize(); }

 private:
  size_t checked(int32_t id) const {
    if (id < 0 || id >= vocab()) {
      throw Error(Code::Usage, pipeline_.kind, ": id ", id, " is outside the vocabulary of ",
                  vocab());
    }
    return static_cast<size_t>(id);
  }

  Pipeline pipeline_;
};

}  // namespace

std::unique_ptr<Tokenizer> pipeline_tokenizer(Pipeline pipeline) {
  return std::make_unique<PipelineTokenizer>(std::move(pipeline));
}

}  // namespace gyre::model

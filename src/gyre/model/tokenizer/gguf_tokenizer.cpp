// GGUF vocabularies as pipelines. gpt2: byte-level BPE by merges. gemma4: BPE by merges over
// characters. llama: SentencePiece's BPE, where any two neighbours join whose text is a token, the
// highest score first; written here as merge rules, one per way to cut a token in two.
#include <algorithm>
#include <numeric>

#include "gyre/base/error.h"
#include "gyre/model/tokenizer/byte_level.h"
#include "gyre/model/tokenizer/gguf_pre.h"
#include "gyre/model/tokenizer/gguf_vocab.h"
#include "gyre/model/tokenizer/hf_parts.h"
#include "gyre/model/tokenizer/pipeline.h"
#include "gyre/model/tokenizer/utf8.h"
#include "gyre/tensor/header_text.h"

namespace gyre::model {
namespace {

using Ids = std::unordered_map<std::string_view, int32_t>;

constexpr const char* kSpace = "\xe2\x96\x81";  // U+2581, SentencePiece's space

Ids ids_of(const std::vector<std::string>& tokens) {
  Ids ids;
  ids.reserve(tokens.size() * 2);
  for (size_t i = 0; i < tokens.size(); ++i) {
    ids[tokens[i]] = static_cast<int32_t>(i);  // the last of equal texts, as in llama.cpp
  }
  return ids;
}

std::vector<MergeRule> rules_of_merges(const GgufVocab& vocab, const Ids& ids) {
  std::vector<MergeRule> rules;
  rules.reserve(vocab.merges.size());
  for (size_t i = 0; i < vocab.merges.size(); ++i) {
    const std::string& merge = vocab.merges[i];
    const size_t space = merge.find(' ', 1);  // a token may begin with a space
    if (space == std::string::npos || space + 1 == merge.size()) {
      throw Error(Code::Format, "tokenizer.ggml.merges: merge ", i, " is '",
                  tensor::printable(merge), "', not two tokens with a space between");
    }
    const std::string joined = merge.substr(0, space) + merge.substr(space + 1);
    const auto left = ids.find(std::string_view(merge).substr(0, space));
    const auto right = ids.find(std::string_view(merge).substr(space + 1));
    const auto result = ids.find(joined);
    if (left == ids.end() || right == ids.end() || result == ids.end()) {
      throw Error(Code::Format, "tokenizer.ggml.merges: merge ", i, " '", tensor::printable(merge),
                  "' uses or makes a token that is not in the vocabulary");
    }
    rules.push_back({left->second, right->second, static_cast<int32_t>(i), result->second});
  }
  return rules;
}

/// Rank of each token by score: the highest score is 0, equal scores share a rank.
std::vector<int32_t> ranks_of(const std::vector<float>& scores) {
  std::vector<int32_t> order(scores.size());
  std::iota(order.begin(), order.end(), 0);
  const auto score = [&](int32_t i) { return scores[static_cast<size_t>(i)]; };
  std::stable_sort(order.begin(), order.end(),
                   [&](int32_t a, int32_t b) { return score(a) > score(b); });
  std::vector<int32_t> ranks(scores.size());
  int32_t rank = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    rank += i > 0 && score(order[i]) != score(order[i - 1]) ? 1 : 0;
    ranks[static_cast<size_t>(order[i])] = rank;
  }
  return ranks;
}

/// Every way to cut each token in two symbols; a character that is no token becomes a symbol.
void add_score_rules(const GgufVocab& vocab, Ids& ids, BpeParts& parts) {
  std::vector<std::string_view> extra;
  for (size_t t = 0; t < vocab.tokens.size(); ++t) {
    const std::string_view text = vocab.tokens[t];
    for (size_t i = 0; i < text.size() && code_point_bytes(text[0]) < text.size();) {
      const size_t n = code_point_bytes(text[i]);
      const auto next = static_cast<int32_t>(vocab.tokens.size() + extra.size());
      if (ids.try_emplace(text.substr(i, n), next).second) {
        extra.push_back(text.substr(i, n));
      }
      i += n;
    }
  }
  const std::vector<int32_t> ranks = ranks_of(vocab.scores);
  for (size_t t = 0; t < vocab.tokens.size(); ++t) {
    const std::string_view text = vocab.tokens[t];
    const int32_t result = text.empty() ? -1 : ids.at(text);
    if (result != static_cast<int32_t>(t)) {
      continue;
    }
    for (size_t i = code_point_bytes(text[0]); i < text.size(); i += code_point_bytes(text[i])) {
      const auto left = ids.find(text.substr(0, i));
      const auto right = ids.find(text.substr(i));
      if (left != ids.end() && right != ids.end()) {
        parts.rules.push_back({left->second, right->second, ranks[t], result});
      }
    }
  }
  for (const std::string_view each : extra) {
    parts.texts.emplace_back(each);
  }
}

/// Bytes of the fallback tokens; -1 where there is none.
void set_fallback(const GgufVocab& vocab, BpeParts& parts) {
  parts.byte_fallback = true;
  for (size_t i = 0; i < vocab.tokens.size(); ++i) {
    if (const auto byte = fallback_byte(vocab.tokens[i]);
        byte && vocab.types[i] == GgufVocab::Byte) {
      parts.byte_ids[static_cast<size_t>(*byte)] = static_cast<int32_t>(i);
    }
    if (vocab.types[i] == GgufVocab::Unknown && parts.unknown < 0) {
      parts.unknown = static_cast<int32_t>(i);
    }
  }
}

BpeParts read_model(const GgufVocab& vocab, const GgufPre* pre) {
  BpeParts parts;
  parts.n_ids = vocab.tokens.size();
  parts.byte_ids.fill(-1);
  Ids ids = ids_of(vocab.tokens);
  if (vocab.model == "gpt2") {
    parts.bytes = true;
    parts.separates = true;  // what llama.cpp does with a byte that has no token
    parts.whole_first = pre->whole_first;
    parts.texts.resize(parts.n_ids);
    for (size_t i = 0; i < parts.n_ids; ++i) {
      parts.texts[i] = bytes_of_level(vocab.tokens[i]).value_or("");
      if (parts.texts[i].size() == 1) {
        parts.byte_ids[static_cast<unsigned char>(parts.texts[i][0])] = static_cast<int32_t>(i);
      }
    }
    parts.rules = rules_of_merges(vocab, ids);
    return parts;
  }
  parts.texts = vocab.tokens;
  set_fallback(vocab, parts);
  if (vocab.model == "gemma4") {
    parts.rules = rules_of_merges(vocab, ids);
  } else {
    add_score_rules(vocab, ids, parts);
  }
  return parts;
}

PreTokenizer read_pre(const GgufPre& pre) {
  std::vector<SplitStep> steps;
  for (const std::string_view pattern : pre.patterns) {
    SplitStep step;
    step.pattern = std::make_shared<Regex>(std::string(pattern));
    steps.push_back(std::move(step));
  }
  return PreTokenizer(std::move(steps));
}

std::vector<NormalStep> read_normal(const GgufVocab& vocab, const GgufPre* pre) {
  std::vector<NormalStep> steps;
  NormalStep step;
  if (vocab.model == "gpt2") {
    if (pre->nfc) {
      steps.push_back(step);  // NFC
    }
    return steps;
  }
  step.to = kSpace;
  if (vocab.space_prefix) {
    step.kind = NormalStep::Kind::Prepend;
    steps.push_back(step);
  }
  step.kind = NormalStep::Kind::Replace;
  step.from = " ";
  steps.push_back(step);
  return steps;
}

std::string piece_of(const GgufVocab& vocab, size_t i, const DecoderPart& decoder) {
  const std::string& token = vocab.tokens[i];
  const bool plain = vocab.types[i] == GgufVocab::Normal || vocab.types[i] == GgufVocab::Byte ||
                     vocab.types[i] == GgufVocab::Unused;
  return plain ? decoded_piece(decoder, token) : token;
}

void set_tokens(const GgufVocab& vocab, Pipeline& pipeline) {
  DecoderPart decoder;
  decoder.byte_level = vocab.model == "gpt2";
  decoder.byte_fallback = !decoder.byte_level;
  decoder.replacements.emplace_back(kSpace, " ");
  std::vector<AddedToken> added;
  for (size_t i = 0; i < vocab.tokens.size(); ++i) {
    const int32_t type = vocab.types[i];
    pipeline.pieces.push_back(piece_of(vocab, i, decoder));
    pipeline.special.push_back(type == GgufVocab::Control || type == GgufVocab::Unknown);
    if (pipeline.special.back() || type == GgufVocab::UserDefined) {
      AddedToken token;
      token.id = static_cast<int32_t>(i);
      token.content = vocab.tokens[i];
      token.special = pipeline.special.back();
      token.rstrip = vocab.strips_after_special && token.content != "<unk>" &&
                     token.content != "<s>" && token.content != "<|endoftext|>";
      added.push_back(std::move(token));
    }
  }
  pipeline.added = AddedTokens(std::move(added));
  pipeline.strip_spaces = vocab.space_prefix ? 1 : 0;
}

}  // namespace

std::unique_ptr<Tokenizer> gguf_tokenizer(GgufVocab vocab) {
  const GgufPre* pre = find_gguf_pre(vocab.pre);
  if (vocab.model == "gpt2" && pre == nullptr) {
    throw Error(Code::Format, "tokenizer.ggml.pre is '", tensor::printable(vocab.pre),
                "', which is not supported; known: ", known_gguf_pres());
  }
  Pipeline pipeline;
  pipeline.kind = "gguf";
  pipeline.normalizer = read_normal(vocab, pre);
  if (vocab.model == "gpt2") {
    pipeline.pre_tokenizer = read_pre(*pre);
  } else if (vocab.model == "gemma4") {
    pipeline.pre_tokenizer = read_pre({"", false, false, false, {"\\n+"}});
  }
  pipeline.model = BpeModel(read_model(vocab, pre));
  set_tokens(vocab, pipeline);
  pipeline.ids = vocab.ids;
  pipeline.serialize = [vocab = std::move(vocab)] { return gguf_vocab_to_json(vocab); };
  return pipeline_tokenizer(std::move(pipeline));
}

}  // namespace gyre::model

// Reads tokenizer.ggml.* and writes it as JSON for run records.
#include "gyre/model/tokenizer/gguf_vocab.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "gyre/base/error.h"
#include "gyre/model/tokenizer/gguf_pre.h"
#include "gyre/model/tokenizer/utf8.h"
#include "gyre/tensor/header_text.h"

namespace gyre::model {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kLongestToken = 4096;

// Tokens that end a turn in chat models and that files often do not name.
constexpr std::string_view kTurnEnds[] = {
    "<|eot_id|>", "<|im_end|>", "<|end|>", "<end_of_turn>",        "<|endoftext|>",
    "<|eom_id|>", "<EOT>",      "_<EOT>",  "<|end_of_text|>",      "<end_of_utterance>",
    "[EOT]",      "[EOS]",      "<turn|>", "<｜end▁of▁sentence｜>"};
// More that are special whatever their type says; both lists are llama.cpp's.
constexpr std::string_view kSentinels[] = {"</s>",
                                           "<eos>",
                                           "<|tool_response>",
                                           "<|return|>",
                                           "<|call|>",
                                           "<|calls|>",
                                           "<|flush|>",
                                           "[e~[",
                                           "<|fim_prefix|>",
                                           "<fim-prefix>",
                                           "<fim_prefix>",
                                           "<PRE>",
                                           "▁<PRE>",
                                           "<|code_prefix|>",
                                           "<|prefix|>",
                                           "<|fim_suffix|>",
                                           "<fim-suffix>",
                                           "<fim_suffix>",
                                           "<SUF>",
                                           "▁<SUF>",
                                           "<|code_suffix|>",
                                           "<|suffix|>",
                                           "<|fim_middle|>",
                                           "<fim-middle>",
                                           "<fim_middle>",
                                           "<MID>",
                                           "▁<MID>",
                                           "<|code_middle|>",
                                           "<|middle|>",
                                           "<|fim_pad|>",
                                           "<fim-pad>",
                                           "<fim_pad>",
                                           "<PAD>",
                                           "[PAD]",
                                           "<|fim_repo|>",
                                           "<|repo_name|>",
                                           "<fim-repo>",
                                           "<REPO>",
                                           "<reponame>",
                                           "<|file_sep|>",
                                           "<｜fim▁begin｜>",
                                           "<｜fim▁hole｜>",
                                           "<｜fim▁end｜>"};

template <class List>
bool is_in(const List& list, std::string_view token) {
  return std::find(std::begin(list), std::end(list), token) != std::end(list);
}

void correct_types(GgufVocab& vocab) {
  const bool tool_response = is_in(vocab.tokens, "<|tool_response>");  // there "</s>" is HTML
  for (size_t i = 0; i < vocab.tokens.size(); ++i) {
    const std::string& token = vocab.tokens[i];
    if (tool_response && token == "</s>") {
      vocab.types[i] = GgufVocab::Normal;
    } else if (vocab.types[i] != GgufVocab::Control &&
               (is_in(kTurnEnds, token) || is_in(kSentinels, token))) {
      vocab.types[i] = GgufVocab::Control;
    }
  }
}

void check_size(const char* key, size_t found, size_t wanted) {
  if (found != wanted) {
    throw Error(Code::Format, "tokenizer.ggml.", key, " has ", found, " items for ", wanted,
                " tokens");
  }
}

int64_t id_key(const tensor::GgufFile& file, const char* name, const GgufVocab& vocab) {
  const std::string key = std::string("tokenizer.ggml.") + name + "_token_id";
  const double id = file.number(key, -1.0);
  if (id == -1.0 || id == 4294967295.0) {
    return -1;
  }
  if (!(id >= 0 && id < static_cast<double>(vocab.tokens.size()))) {
    throw Error(Code::Format, key, " is ", id, ", outside the vocabulary of ", vocab.tokens.size());
  }
  return static_cast<int64_t>(id);
}

void add_eos(int64_t id, SpecialIds& ids) {
  if (id >= 0 && std::find(ids.eos.begin(), ids.eos.end(), id) == ids.eos.end()) {
    ids.eos.push_back(id);
  }
}

void read_ids(const tensor::GgufFile& file, GgufVocab& vocab) {
  vocab.ids.bos = id_key(file, "bos", vocab);
  for (const char* name : {"eos", "eot", "eom"}) {
    add_eos(id_key(file, name, vocab), vocab.ids);
  }
  for (size_t i = 0; i < vocab.tokens.size(); ++i) {
    if (vocab.types[i] == GgufVocab::Control && is_in(kTurnEnds, vocab.tokens[i])) {
      add_eos(static_cast<int64_t>(i), vocab.ids);
    }
  }
  const GgufPre* pre = find_gguf_pre(vocab.pre);
  const bool usual = vocab.model != "gpt2" || (pre != nullptr && pre->add_bos);
  vocab.ids.add_bos = file.number("tokenizer.ggml.add_bos_token", usual ? 1 : 0) != 0;
  vocab.ids.add_eos = file.number("tokenizer.ggml.add_eos_token", 0) != 0;
}

bool is_phi3(const tensor::GgufFile& file) {
  std::string name = file.text("general.name", "") + file.text("general.architecture", "");
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return name.find("phi-3") != std::string::npos || name.find("phi3") != std::string::npos;
}

void check(const GgufVocab& vocab) {
  if (vocab.model != "gpt2" && vocab.model != "llama" && vocab.model != "gemma4") {
    throw Error(Code::Format, "tokenizer.ggml.model is '", tensor::printable(vocab.model),
                "', which is not supported; known: gpt2, llama, gemma4");
  }
  if (vocab.tokens.empty()) {
    throw Error(Code::Format, "tokenizer.ggml.tokens is missing or empty");
  }
  check_size("token_type", vocab.types.size(), vocab.tokens.size());
  if (vocab.model == "llama") {
    check_size("scores", vocab.scores.size(), vocab.tokens.size());
  } else if (vocab.merges.empty()) {
    throw Error(Code::Format, "tokenizer.ggml.merges is missing or empty; model '", vocab.model,
                "' needs it");
  }
  if (!std::all_of(vocab.scores.begin(), vocab.scores.end(),
                   [](float score) { return std::isfinite(score); })) {
    throw Error(Code::Format, "tokenizer.ggml.scores holds what is no finite number");
  }
  for (size_t i = 0; i < vocab.tokens.size(); ++i) {
    if (vocab.tokens[i].size() > kLongestToken) {  // cutting it in two takes its square
      throw Error(Code::Format, "tokenizer.ggml.tokens: token ", i, " has ", vocab.tokens[i].size(),
                  " bytes, at most ", kLongestToken, " are expected");
    }
    std::string storage;
    if (valid_utf8(vocab.tokens[i], storage).data() == storage.data() && !storage.empty()) {
      throw Error(Code::Format, "tokenizer.ggml.tokens: token ", i, " is no UTF-8");
    }
  }
}

}  // namespace

GgufVocab read_gguf_vocab(const tensor::GgufFile& file) {
  GgufVocab vocab;
  vocab.model = file.text("tokenizer.ggml.model", "none");
  vocab.pre = file.text("tokenizer.ggml.pre", "default");
  vocab.tokens = file.texts("tokenizer.ggml.tokens");
  const std::vector<double> types = file.numbers("tokenizer.ggml.token_type");
  vocab.types.assign(types.begin(), types.end());
  if (types.empty()) {
    vocab.types.assign(vocab.tokens.size(), GgufVocab::Normal);
  }
  if (vocab.model == "llama") {
    const std::vector<double> scores = file.numbers("tokenizer.ggml.scores");
    for (const double score : scores) {
      vocab.scores.push_back(static_cast<float>(score));
    }
  } else {
    vocab.merges = file.texts("tokenizer.ggml.merges");
  }
  check(vocab);
  vocab.space_prefix =
      file.number("tokenizer.ggml.add_space_prefix", vocab.model == "llama" ? 1 : 0) != 0 &&
      vocab.model == "llama";
  vocab.strips_after_special = is_phi3(file);
  correct_types(vocab);
  read_ids(file, vocab);
  return vocab;
}

std::string gguf_vocab_to_json(const GgufVocab& vocab) {
  return Json{{"schema", "gyre.tokenizer/1"},
              {"kind", "gguf"},
              {"model", vocab.model},
              {"pre", vocab.pre},
              {"space_prefix", vocab.space_prefix},
              {"strips_after_special", vocab.strips_after_special},
              {"special",
               {{"bos", vocab.ids.bos},
                {"eos", vocab.ids.eos},
                {"add_bos", vocab.ids.add_bos},
                {"add_eos", vocab.ids.add_eos}}},
              {"tokens", vocab.tokens},
              {"types", vocab.types},
              {"scores", vocab.scores},
              {"merges", vocab.merges}}
      .dump();
}

GgufVocab gguf_vocab_from_json(const std::string& text) {
  const Json json = Json::parse(text);
  GgufVocab vocab;
  json.at("model").get_to(vocab.model);
  json.at("pre").get_to(vocab.pre);
  json.at("space_prefix").get_to(vocab.space_prefix);
  json.at("strips_after_special").get_to(vocab.strips_after_special);
  json.at("tokens").get_to(vocab.tokens);
  json.at("types").get_to(vocab.types);
  json.at("scores").get_to(vocab.scores);
  json.at("merges").get_to(vocab.merges);
  const Json& special = json.at("special");
  special.at("bos").get_to(vocab.ids.bos);
  special.at("eos").get_to(vocab.ids.eos);
  special.at("add_bos").get_to(vocab.ids.add_bos);
  special.at("add_eos").get_to(vocab.ids.add_eos);
  check(vocab);
  return vocab;
}

}  // namespace gyre::model

// One line of samples.jsonl. The line starts with what an index needs, so that a record of many
// lines opens without reading them as JSON (record.cpp).
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "gyre/accept/record.h"
#include "gyre/base/error.h"
#include "gyre/base/files.h"
#include "gyre/base/json_words.h"

namespace gyre::accept {
namespace {

using Json = nlohmann::ordered_json;

bool is_utf8(const std::string& text) {
  try {
    (void)Json(text).dump();
    return true;
  } catch (const Json::type_error&) {
    return false;
  }
}

/// Text that is no UTF-8 (a model in process may write it) is kept as its bytes.
Json text_json(const std::string& text) {
  return is_utf8(text) ? Json(text)
                       : Json{{"bytes", std::vector<uint8_t>(text.begin(), text.end())}};
}

std::string text_of(const Json& json) {
  if (json.is_string()) {
    return json.get<std::string>();
  }
  const auto bytes = json.at("bytes").get<std::vector<uint8_t>>();
  return {bytes.begin(), bytes.end()};
}

template <class T>
Json optional_json(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

template <class T>
std::optional<T> optional_of(const Json& json) {
  return json.is_null() ? std::nullopt : std::optional<T>(json.get<T>());
}

Json list_json(const std::vector<std::optional<double>>& values) {
  Json out = Json::array();
  for (const auto& value : values) {
    out.push_back(optional_json(value));
  }
  return out;
}

std::vector<std::optional<double>> list_of(const Json& json) {
  std::vector<std::optional<double>> out;
  for (const Json& value : json) {
    out.push_back(optional_of<double>(value));
  }
  return out;
}

/// JSON knows no infinity: null stands for -inf.
double logprob_of(const Json& json) {
  return json.is_null() ? -std::numeric_limits<double>::infinity() : json.get<double>();
}

Json top_json(const std::vector<std::vector<TokenScore>>& top) {
  Json out = Json::array();
  for (const auto& ranks : top) {
    Json row = Json::array();
    for (const TokenScore& score : ranks) {
      row.push_back(Json::array({text_json(score.text), score.logprob}));
    }
    out.push_back(std::move(row));
  }
  return out;
}

std::vector<std::vector<TokenScore>> top_of(const Json& json) {
  std::vector<std::vector<TokenScore>> out;
  for (const Json& ranks : json) {
    out.emplace_back();
    for (const Json& score : ranks) {
      out.back().push_back({text_of(score.at(0)), logprob_of(score.at(1))});
    }
  }
  return out;
}

Json ask_json(const Ask& ask) {
  Json messages = Json::array();
  for (const Message& message : ask.messages) {
    messages.push_back(Json{{"role", message.role}, {"bytes", message.content.size()}});
  }
  return Json{{"api", name_of(ask.api)},
              {"messages", std::move(messages)},
              {"max_tokens", ask.max_tokens},
              {"top_logprobs", ask.top_logprobs},
              {"echo", ask.echo},
              {"cold", ask.cold},
              {"candidates", ask.candidates}};
}

Ask ask_of(const Json& json) {
  Ask ask;
  ask.api = json.at("api").get<std::string>() == "chat" ? Api::Chat : Api::Completions;
  for (const Json& message : json.at("messages")) {
    ask.messages.push_back({message.at("role").get<std::string>(), ""});
  }
  ask.max_tokens = json.at("max_tokens").get<int64_t>();
  ask.top_logprobs = json.at("top_logprobs").get<int64_t>();
  ask.echo = json.at("echo").get<bool>();
  ask.cold = json.at("cold").get<bool>();
  ask.candidates = json.at("candidates").get<std::vector<std::string>>();
  return ask;
}

void add_item(Json& line, const Item& item) {
  Json distractors = Json::array(), evidence = Json::array();
  for (const Distractor& one : item.distractors) {
    distractors.push_back(
        Json{{"code", one.code}, {"similarity", one.similarity}, {"fraction", one.fraction}});
  }
  for (const Place& place : item.evidence) {
    evidence.push_back(Json{{"fraction", place.fraction},
                            {"from_start", place.from_start},
                            {"from_end", place.from_end}});
  }
  line["level"] = item.level;
  line["task"] = item.task;
  line["arm"] = item.arm;
  line["length"] = item.length;
  line["occasion"] = item.occasion;
  line["index"] = item.index;
  line["dials"] = item.dials;
  line["ask"] = ask_json(item.ask);
  line["form"] = name_of(item.form);
  line["gold"] = item.gold;
  line["distractors"] = std::move(distractors);
  line["evidence"] = std::move(evidence);
  line["sentences"] = item.sentences;
  line["tokens_predicted"] = item.tokens_predicted;
  line["prompt_bytes"] = prompt_bytes(item.ask);
}

Item item_of(const Json& line) {
  Item item;
  item.sid = line.at("sid").get<std::string>();
  item.level = line.at("level").get<int64_t>();
  item.task = line.at("task").get<std::string>();
  item.arm = line.at("arm").get<std::string>();
  item.length = line.at("length").get<int64_t>();
  item.occasion = line.at("occasion").get<int64_t>();
  item.index = line.at("index").get<int64_t>();
  item.dials = line.at("dials").get<std::map<std::string, std::string>>();
  item.ask = ask_of(line.at("ask"));
  item.form = form_of(line.at("form").get<std::string>()).value_or(AnswerForm::Free);
  item.gold = line.at("gold").get<std::vector<std::string>>();
  for (const Json& one : line.at("distractors")) {
    item.distractors.push_back({one.at("code").get<std::string>(),
                                one.at("similarity").get<int64_t>(),
                                one.at("fraction").get<double>()});
  }
  for (const Json& place : line.at("evidence")) {
    item.evidence.push_back({place.at("fraction").get<double>(),
                             place.at("from_start").get<int64_t>(),
                             place.at("from_end").get<int64_t>()});
  }
  item.sentences = line.at("sentences").get<std::vector<std::string>>();
  item.tokens_predicted = line.at("tokens_predicted").get<int64_t>();
  return item;
}

Json reply_json(const Reply& r) {
  Json out{{"http", r.http},
           {"fault", name_of(r.fault)},
           {"text", text_json(r.text)},
           {"finish", text_json(r.finish)}};
  out["prompt_tokens"] = optional_json(r.prompt_tokens);
  out["completion_tokens"] = optional_json(r.completion_tokens);
  out["total_tokens"] = optional_json(r.total_tokens);
  out["cached_tokens"] = optional_json(r.cached_tokens);
  out["first_token_ms"] = r.first_token_ms;
  out["total_ms"] = r.total_ms;
  out["connect_ms"] = r.connect_ms;
  out["first_byte_ms"] = r.first_byte_ms;
  out["chunks"] = r.chunks;
  out["bytes"] = r.bytes;
  out["burst"] = r.burst;
  // What few replies have is left out elsewhere.
  const auto rare = [&](const char* name, bool there, Json value) {
    if (there) {
      out[name] = std::move(value);
    }
  };
  rare("reasoning", !r.reasoning.empty(), text_json(r.reasoning));
  rare("fault_text", !r.fault_text.empty(), text_json(r.fault_text));
  rare("error_in_200", r.error_in_200, true);
  rare("usage_disagrees", r.usage_disagrees, true);
  rare("limit_tokens", r.limit_tokens.has_value(), optional_json(r.limit_tokens));
  rare("asked_tokens", r.asked_tokens.has_value(), optional_json(r.asked_tokens));
  rare("top", !r.top.empty(), top_json(r.top));
  rare("prompt_logprobs", !r.prompt_logprobs.empty(), list_json(r.prompt_logprobs));
  rare("candidates", !r.candidates.empty(), list_json(r.candidates));
  rare("candidate_bound", r.candidate_bound != 0.0, r.candidate_bound);
  rare("retry_after_s", r.retry_after_s >= 0, r.retry_after_s);
  rare("memory_mib", r.memory_mib.has_value(), optional_json(r.memory_mib));
  return out;
}

Reply reply_of(const Json& json) {
  Reply r;
  const auto rare = [&](const char* name) { return json.contains(name) ? json.at(name) : Json(); };
  const std::string fault = json.at("fault").get<std::string>();
  const std::optional<Fault> known = fault_of(fault);
  if (!known) {
    throw Error(Code::Format, "unknown fault '", fault, "'");
  }
  r.http = json.at("http").get<int>();
  r.fault = *known;
  r.text = text_of(json.at("text"));
  r.finish = text_of(json.at("finish"));
  r.prompt_tokens = optional_of<int64_t>(json.at("prompt_tokens"));
  r.completion_tokens = optional_of<int64_t>(json.at("completion_tokens"));
  r.total_tokens = optional_of<int64_t>(json.at("total_tokens"));
  r.cached_tokens = optional_of<int64_t>(json.at("cached_tokens"));
  r.first_token_ms = json.at("first_token_ms").get<double>();
  r.total_ms = json.at("total_ms").get<double>();
  r.connect_ms = json.at("connect_ms").get<double>();
  r.first_byte_ms = json.at("first_byte_ms").get<double>();
  r.chunks = json.at("chunks").get<int64_t>();
  r.bytes = json.at("bytes").get<int64_t>();
  r.burst = json.at("burst").get<bool>();
  r.reasoning = json.contains("reasoning") ? text_of(json.at("reasoning")) : "";
  r.fault_text = json.contains("fault_text") ? text_of(json.at("fault_text")) : "";
  r.error_in_200 = json.contains("error_in_200");
  r.usage_disagrees = json.contains("usage_disagrees");
  r.limit_tokens = optional_of<int64_t>(rare("limit_tokens"));
  r.asked_tokens = optional_of<int64_t>(rare("asked_tokens"));
  r.top = top_of(rare("top"));
  r.prompt_logprobs = list_of(rare("prompt_logprobs"));
  r.candidates = list_of(rare("candidates"));
  r.candidate_bound = optional_of<double>(rare("candidate_bound")).value_or(0.0);
  r.retry_after_s = optional_of<double>(rare("retry_after_s")).value_or(-1.0);
  r.memory_mib = optional_of<double>(rare("memory_mib"));
  return r;
}

}  // namespace

std::string to_line(const Sample& sample, const std::string& run, Ending ending) {
  Json line{{"schema", "gyre.accept_sample/1"},
            {"sid", sample.item.sid},
            {"final", ending == Ending::Final},
            {"run", run}};
  if (ending == Ending::GivenUp) {
    line["given_up"] = true;
  }
  line["attempt"] = sample.attempt;
  add_item(line, sample.item);
  line["prompt_sha"] = sha256(prompt_text(sample.item.ask));
  line["verdict"] = name_of(sample.verdict);
  line["found"] = text_json(sample.found);
  line["in_flight"] = sample.in_flight;
  line["reply"] = reply_json(sample.reply);
  return line.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Sample sample_of(const std::string& text) {
  try {
    const Json line = Json::parse(text);
    if (line.at("schema") != "gyre.accept_sample/1") {
      throw Error(Code::Format, "schema ", line.at("schema").dump());
    }
    Sample out;
    out.item = item_of(line);
    out.reply = reply_of(line.at("reply"));
    out.verdict = verdict_of(line.at("verdict").get<std::string>()).value_or(Verdict::Error);
    out.found = text_of(line.at("found"));
    out.prompt_sha = line.at("prompt_sha").get<std::string>();
    out.attempt = line.at("attempt").get<int64_t>();
    out.in_flight = line.at("in_flight").get<int64_t>();
    return out;
  } catch (const std::exception& fault) {
    constexpr size_t kShown = 60;
    throw Error(Code::Format,
                "not a sample of gyre.accept_sample/1: ", gyre::one_line(text, kShown), " (",
                json_words(fault.what()), ")");
  }
}

}  // namespace gyre::accept

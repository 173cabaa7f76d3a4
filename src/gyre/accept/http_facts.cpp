#include "gyre/accept/http_facts.h"

#include <algorithm>
#include <array>
#include <cstdlib>

#include "gyre/accept/http_error.h"
#include "gyre/accept/json_value.h"

namespace gyre::accept {

namespace {

/// One discovery; each step reads one endpoint.
class Explorer {
 public:
  Explorer(const Fetch& fetch, std::string base, std::string root, std::string model)
      : fetch_(fetch), base_(std::move(base)), root_(std::move(root)), model_(std::move(model)) {}
  Discovery run();

 private:
  std::optional<Json> get(const std::string& path, const std::string& body = "");
  void claim(const Json& object, const char* key, const std::string& source);
  void claim(const Json& object, std::initializer_list<const char*> keys, const std::string& path);
  void read_models();
  void read_model(const Json& entry);
  void read_props();
  void read_slots();
  void read_ollama();
  void read_sglang();
  void read_tgi();
  void read_lm_studio();
  void read_metrics();
  void try_tokenizer();
  void guess_by_owner(const std::string& owner);
  bool is(const char* server) const { return found_.facts.server == server; }

  const Fetch& fetch_;
  std::string base_, root_, model_;
  Discovery found_;
  std::string server_header_;
  bool stuck_ = false;  // nothing comes in time: no more is asked
};

std::optional<Json> Explorer::get(const std::string& path, const std::string& body) {
  if (stuck_) {
    return std::nullopt;
  }
  const Answer answer = fetch_(path, body);
  server_header_ = answer.server.empty() ? server_header_ : answer.server;
  stuck_ = answer.fault == Fault::Connect || answer.fault == Fault::FirstByte ||
           answer.fault == Fault::Idle || answer.fault == Fault::Deadline;
  if (answer.fault != Fault::None) {
    found_.facts.other[path] = one_line(answer.why);
    found_.why = answer.why;
    return std::nullopt;
  }
  if (answer.status != 200) {
    return std::nullopt;
  }
  std::optional<Json> json = parse_json(answer.body);
  if (!json) {
    found_.facts.other[path] = "no JSON: " + one_line(answer.body).substr(0, 100);
  }
  return json;
}

void Explorer::claim(const Json& object, const char* key, const std::string& source) {
  const std::optional<int64_t> tokens = count_at(object, key);
  if (tokens && *tokens > 0) {
    found_.facts.claims.push_back({source, *tokens});
  }
}

void Explorer::claim(const Json& object, std::initializer_list<const char*> keys,
                     const std::string& path) {
  for (const char* key : keys) {
    claim(object, key, path + " " + key);
  }
}

void Explorer::guess_by_owner(const std::string& owner) {
  constexpr std::array<std::pair<const char*, const char*>, 10> kOwners{
      {{"llamacpp", "llama.cpp"},
       {"vllm", "vLLM"},
       {"sglang", "SGLang"},
       {"library", "Ollama"},
       {"ollama", "Ollama"},
       {"openai", "OpenAI"},
       {"system", "OpenAI"},
       {"groq", "Groq"},
       {"lmstudio", "LM Studio"},
       {"organization_owner", "LM Studio"}}};
  for (const auto& [known, server] : kOwners) {
    if (owner == known) {
      found_.facts.server = server;
    }
  }
}

void Explorer::read_model(const Json& entry) {
  const std::string path = "/v1/models";
  guess_by_owner(text_at(entry, "owned_by"));
  claim(entry,
        {"max_model_len", "context_length", "context_window", "max_context_length",
         "loaded_context_length", "max_input_tokens", "n_ctx"},
        path);
  const Json& meta = at(entry, "meta");
  claim(meta, "n_ctx", path + " meta.n_ctx");
  if (!count_at(meta, "n_ctx")) {
    claim(meta, "n_ctx_train", path + " meta.n_ctx_train");
  } else if (const std::optional<int64_t> trained = count_at(meta, "n_ctx_train")) {
    // Where the server says what it serves, this is about the model.
    found_.facts.other["n_ctx_train"] = std::to_string(*trained);
  }
  claim(at(entry, "top_provider"), "context_length", path + " top_provider.context_length");
}

void Explorer::read_models() {
  const std::optional<Json> json = get(base_ + "/models");
  if (!json) {
    return;
  }
  const Json& list = at(*json, "data").is_array() ? at(*json, "data") : *json;
  constexpr size_t kMostModels = 10'000;
  for (const Json& entry : list) {
    const std::string id = text_at(entry, "id");
    if (!id.empty() && found_.models.size() < kMostModels) {
      found_.models.push_back(id);
      if (model_.empty() || id == model_) {
        model_ = id;
        read_model(entry);
      }
    }
  }
}

void Explorer::read_props() {
  const std::optional<Json> json = get(root_ + "/props");
  if (!json || at(*json, "default_generation_settings").is_null()) {
    return;
  }
  found_.facts.server = "llama.cpp";
  claim(at(*json, "default_generation_settings"), "n_ctx",
        "/props default_generation_settings.n_ctx");
  found_.facts.slots = count_at(*json, "total_slots");
  for (const char* key : {"build_info", "model_path", "chat_template"}) {
    if (const std::string text = text_at(*json, key); !text.empty()) {
      found_.facts.other[key] = one_line(text);
    }
  }
}

void Explorer::read_slots() {
  const std::optional<Json> json = is("llama.cpp") ? get(root_ + "/slots") : std::nullopt;
  if (json && json->is_array() && !json->empty()) {
    claim(json->front(), "n_ctx", "/slots n_ctx");
    found_.facts.slots = static_cast<int64_t>(json->size());
  }
}

void Explorer::read_ollama() {
  if (!found_.facts.server.empty() && !is("Ollama")) {
    return;
  }
  const std::optional<Json> version = get(root_ + "/api/version");
  if (!version || text_at(*version, "version").empty()) {
    return;
  }
  found_.facts.server = "Ollama";
  found_.facts.other["version"] = one_line(text_at(*version, "version"));
  if (const std::optional<Json> show = get(root_ + "/api/show", Json{{"model", model_}}.dump())) {
    const Json& info = at(*show, "model_info");
    for (auto one = info.begin(); info.is_object() && one != info.end(); ++one) {
      const std::string& key = one.key();
      if (key.size() > 15 && key.substr(key.size() - 15) == ".context_length") {
        claim(info, key.c_str(), "/api/show " + key);
      }
    }
    const std::string settings = text_at(*show, "parameters");
    if (const size_t at_ = settings.find("num_ctx"); at_ != std::string::npos) {
      const int64_t tokens = std::atoll(settings.c_str() + at_ + 7);
      if (tokens > 0) {
        found_.facts.claims.push_back({"/api/show num_ctx", tokens});
      }
    }
  }
  if (const std::optional<Json> ps = get(root_ + "/api/ps")) {
    for (const Json& entry : at(*ps, "models")) {
      if (text_at(entry, "model") == model_ || text_at(entry, "name") == model_) {
        claim(entry, "context_length", "/api/ps context_length");
        found_.memory = root_ + "/api/ps";
      }
    }
  }
}

void Explorer::read_sglang() {
  if (!found_.facts.server.empty() && !is("SGLang")) {
    return;
  }
  const std::optional<Json> json = get(root_ + "/get_model_info");
  if (!json || text_at(*json, "model_path").empty()) {
    return;
  }
  found_.facts.server = "SGLang";
  claim(*json, {"max_total_num_tokens", "context_length", "max_context_length"}, "/get_model_info");
}

void Explorer::read_tgi() {
  if (!found_.facts.server.empty()) {
    return;
  }
  const std::optional<Json> json = get(root_ + "/info");
  if (!json || text_at(*json, "model_id").empty()) {
    return;
  }
  found_.facts.server = "TGI";
  claim(*json, {"max_total_tokens", "max_input_tokens", "max_input_length"}, "/info");
}

void Explorer::read_lm_studio() {
  const std::optional<Json> json = is("LM Studio") ? get(root_ + "/api/v0/models") : std::nullopt;
  if (json) {
    for (const Json& entry : at(*json, "data")) {
      if (text_at(entry, "id") == model_) {
        claim(entry, {"max_context_length", "loaded_context_length"}, "/api/v0/models");
      }
    }
  }
}

void Explorer::read_metrics() {
  if (!found_.memory.empty() || stuck_ || (!is("llama.cpp") && !is("vLLM"))) {
    return;
  }
  const Answer answer = fetch_(root_ + "/metrics", "");
  if (answer.status == 200 && memory_mib(answer.body)) {
    found_.memory = root_ + "/metrics";
  }
}

void Explorer::try_tokenizer() {
  const char* field = is("llama.cpp") ? "content" : is("vLLM") ? "prompt" : "";
  if (*field == '\0' || stuck_) {
    return;
  }
  const Answer answer = fetch_(root_ + "/tokenize", tokenize_body(field, model_, "one two"));
  if (answer.status == 200 && token_count(answer.body).value_or(0) > 0) {
    found_.tokenizer = field;
    found_.facts.counts_tokens = true;
    if (const std::optional<Json> json = parse_json(answer.body)) {
      claim(*json, "max_model_len", "/tokenize max_model_len");
    }
  }
}

Discovery Explorer::run() {
  read_models();
  if (stuck_ && found_.models.empty() && server_header_.empty()) {
    found_.unreachable = true;
    return found_;
  }
  const bool hosted = is("OpenAI") || is("Groq");  // nothing else to be found there
  if (!hosted) {
    read_props();
    read_slots();
    read_ollama();
    read_sglang();
    read_tgi();
    read_lm_studio();
    read_metrics();
    try_tokenizer();
  }
  found_.facts.model = model_;
  if (!server_header_.empty()) {
    found_.facts.other["server_header"] = one_line(server_header_);
  }
  return found_;
}

}  // namespace

Discovery discover(const Fetch& fetch, const std::string& base, const std::string& root,
                   const std::string& model) {
  return Explorer(fetch, base, root, model).run();
}

std::optional<int64_t> token_count(const std::string& body) {
  const std::optional<Json> json = parse_json(body);
  if (!json) {
    return std::nullopt;
  }
  if (at(*json, "tokens").is_array() && !at(*json, "tokens").empty()) {
    return static_cast<int64_t>(at(*json, "tokens").size());
  }
  return count_at(*json, "count");
}

std::string tokenize_body(const std::string& field, const std::string& model,
                          const std::string& text) {
  Json body{{field, text}};
  if (!model.empty() && field == "prompt") {
    body["model"] = model;
  }
  return body.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string template_body(const std::vector<Message>& messages) {
  Json list = Json::array();
  for (const Message& message : messages) {
    list.push_back({{"role", message.role}, {"content", message.content}});
  }
  return Json{{"messages", list}}.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::optional<std::string> rendered_prompt(const std::string& body) {
  const std::optional<Json> json = parse_json(body);
  if (!json || !at(*json, "prompt").is_string()) {
    return std::nullopt;
  }
  return at(*json, "prompt").get<std::string>();
}

std::optional<double> memory_mib(const std::string& body) {
  constexpr double kMiB = 1024.0 * 1024.0;
  if (const std::optional<Json> json = parse_json(body)) {  // Ollama's /api/ps
    double bytes = 0;
    for (const Json& entry : at(*json, "models")) {
      bytes += number_at(entry, "size_vram").value_or(0);
    }
    return bytes > 0 ? std::optional(bytes / kMiB) : std::nullopt;
  }
  const std::string name = "process_resident_memory_bytes ";
  for (size_t at_ = body.find(name); at_ != std::string::npos; at_ = body.find(name, at_ + 1)) {
    const double bytes = std::strtod(body.c_str() + at_ + name.size(), nullptr);
    if ((at_ == 0 || body[at_ - 1] == '\n') && bytes > 0 && bytes < 1e15) {
      return bytes / kMiB;
    }
  }
  return std::nullopt;
}

}  // namespace gyre::accept

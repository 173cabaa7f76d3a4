#include "gyre/accept/http_subject.h"

#include <algorithm>
#include <cctype>
#include <chrono>
#include <cmath>
#include <mutex>

#include "gyre/accept/first_byte.h"
#include "gyre/accept/http_client.h"
#include "gyre/accept/http_facts.h"
#include "gyre/accept/http_reply.h"
#include "gyre/accept/http_request.h"
#include "gyre/accept/http_url.h"
#include "gyre/base/error.h"

namespace gyre::accept {

namespace {

constexpr int64_t kMostSmallBytes = 4 << 20;  // of an answer about the server itself
constexpr int kMostMending = 4;               // refusals that one ask gives way to

// Shorter ones are words that stand for a key ("none", "EMPTY"), which answers hold by chance.
constexpr size_t kSecret = 8, kWord = 3;  // bytes, in answers and in error messages

/// The key, wherever a server repeats it, in whatever case.
void hide(const std::string& key, size_t least, std::string& text) {
  if (key.size() < least) {
    return;
  }
  const auto same = [](unsigned char a, unsigned char b) {
    return std::tolower(a) == std::tolower(b);
  };
  const std::string mark = "[key]";
  for (auto from = text.begin();;) {
    const auto at = std::search(from, text.end(), key.begin(), key.end(), same);
    if (at == text.end()) {
      return;
    }
    const auto begin = at - text.begin();
    text.replace(static_cast<size_t>(begin), key.size(), mark);
    from = text.begin() + begin + static_cast<std::ptrdiff_t>(mark.size());
  }
}

class Endpoint : public Subject {
 public:
  explicit Endpoint(const EndpointOptions& options)
      : options_(options),
        url_(parse_url(options.url)),
        client_({url_.origin(), options.key, options.ca_file}) {
    manner_.model = options.model;
    manner_.stream = options.stream != "off";
    manner_.may_stop_streaming = options.stream == "auto";
  }

  std::string name() const override {
    const std::lock_guard guard(lock_);
    std::string name = url_.base() + " " + manner_.model;
    hide(options_.key, kSecret, name);
    return name;
  }
  bool concurrent() const override { return true; }
  bool can(Api) const override { return true; }
  Facts discover() override;
  Reply ask(const Ask& ask) override;
  std::optional<int64_t> count_tokens(const std::string& text) override;
  std::optional<std::string> render(const std::vector<Message>& messages) override;

 private:
  /// One more request in flight, for the time of an ask.
  struct Flight {
    explicit Flight(Endpoint& one) : endpoint(one) {
      const std::lock_guard guard(endpoint.lock_);
      ++endpoint.in_flight_;
    }
    ~Flight() {
      const std::lock_guard guard(endpoint.lock_);
      --endpoint.in_flight_;
    }
    Flight(const Flight&) = delete;
    Flight& operator=(const Flight&) = delete;
    Endpoint& endpoint;
  };

  Reply ask_once(const Ask& ask, const Manner& manner);
  Answer fetch(const std::string& url, const std::string& body, Clocks clocks);
  Clocks clocks_for(const Ask& ask, const Manner& manner) const;
  void hide_key(Reply& reply) const;
  void hide_key(Facts& facts) const;
  void add_memory(Reply& reply);

  EndpointOptions options_;
  Url url_;
  HttpClient client_;
  mutable std::mutex lock_;
  Manner manner_;
  FirstByteModel streamed_, whole_;
  int64_t in_flight_ = 0;
  double longest_s_ = 0;  // of the answers so far
  Discovery found_;
  std::chrono::steady_clock::time_point memory_asked_{};
};

void Endpoint::hide_key(Reply& reply) const {
  hide(options_.key, kWord, reply.fault_text);
  hide(options_.key, kSecret, reply.text);
  hide(options_.key, kSecret, reply.reasoning);
  hide(options_.key, kSecret, reply.finish);
  for (std::vector<TokenScore>& row : reply.top) {
    for (TokenScore& score : row) {
      hide(options_.key, kSecret, score.text);
    }
  }
}

void Endpoint::hide_key(Facts& facts) const {
  hide(options_.key, kSecret, facts.server);
  hide(options_.key, kSecret, facts.model);
  for (Claim& claim : facts.claims) {
    hide(options_.key, kSecret, claim.source);
  }
  std::map<std::string, std::string> other;
  for (auto& [name, value] : facts.other) {
    std::string shown = name;
    hide(options_.key, kSecret, shown);
    hide(options_.key, kSecret, value);
    other[shown] = value;
  }
  facts.other = std::move(other);
}

Clocks Endpoint::clocks_for(const Ask& ask, const Manner& manner) const {
  Clocks clocks{options_.connect_s, options_.first_byte_s, options_.idle_s, options_.total_s};
  const bool stream = streams(ask, manner);
  const std::lock_guard guard(lock_);
  const double predicted = (stream ? streamed_ : whole_).seconds(prompt_bytes(ask));
  clocks.first_byte_s = std::max(clocks.first_byte_s, 4 * predicted);
  // A server that answers one request after the other lets the last of them wait for all others.
  clocks.first_byte_s += 2 * longest_s_ * static_cast<double>(std::max<int64_t>(0, in_flight_ - 1));
  if (!stream) {  // its first byte waits for the last token
    constexpr double kTokenS = 0.2;
    clocks.first_byte_s += kTokenS * static_cast<double>(ask.max_tokens);
  }
  return clocks;
}

Answer Endpoint::fetch(const std::string& url, const std::string& body, Clocks clocks) {
  Answer answer;
  const Call call{body.empty() ? "GET" : "POST", url, body, clocks, kMostSmallBytes};
  const Transfer transfer = client_.perform(call, [&](std::string_view bytes, int, double) {
    answer.body.append(bytes);
    return Take::More;
  });
  answer.status = transfer.status;
  answer.server = transfer.server;
  answer.fault = transfer.fault;
  answer.why = transfer.why;
  return answer;
}

Facts Endpoint::discover() {
  const Clocks clocks{options_.connect_s, std::min(10.0, options_.first_byte_s),
                      std::min(10.0, options_.idle_s), std::min(20.0, options_.total_s)};
  const Fetch fetch_one = [&](const std::string& url, const std::string& body) {
    return fetch(url, body, clocks);
  };
  Discovery found = accept::discover(fetch_one, url_.base(), url_.root(), options_.model);
  hide(options_.key, kSecret, found.why);
  if (found.unreachable && found.facts.other.count(url_.base() + "/models") != 0) {
    found.facts.other["unreachable"] = found.why;
  }
  if (options_.model.empty() && found.models.size() > 1) {
    std::string some;
    for (size_t i = 0; i < std::min<size_t>(5, found.models.size()); ++i) {
      some += (i == 0 ? "" : ", ") + found.models[i];
    }
    hide(options_.key, kSecret, some);
    throw Error(Code::Usage, "the endpoint serves ", found.models.size(), " models (", some,
                found.models.size() > 5 ? ", ..." : "", "); name one with --model");
  }
  if (!options_.model.empty() && !found.models.empty() &&
      std::find(found.models.begin(), found.models.end(), options_.model) == found.models.end()) {
    found.facts.other["model"] = "not among those that /v1/models lists";
  }
  const std::lock_guard guard(lock_);
  manner_.model = options_.model.empty() ? found.facts.model : options_.model;
  manner_.cache_prompt = found.facts.server == "llama.cpp";
  found.facts.model = manner_.model;
  found_ = found;
  hide_key(found.facts);
  return found.facts;
}

Reply Endpoint::ask_once(const Ask& ask, const Manner& manner) {
  const std::string path = ask.api == Api::Chat ? "/chat/completions" : "/completions";
  const Call call{"POST", url_.base() + path, request_body(ask, manner, options_.send),
                  clocks_for(ask, manner), options_.most_bytes};
  constexpr int64_t kMostLine = 8 << 20;
  ReplyReader reader(
      ask, streams(ask, manner) ? std::min(kMostLine, options_.most_bytes) : options_.most_bytes);
  const Transfer transfer =
      client_.perform(call, [&](std::string_view bytes, int status, double at_ms) {
        return reader.feed(bytes, status, at_ms);
      });
  return reader.finish(transfer);
}

Reply Endpoint::ask(const Ask& ask) {
  const Flight flight(*this);
  Reply reply;
  for (int i = 0; i <= kMostMending; ++i) {
    Manner manner;
    {
      const std::lock_guard guard(lock_);
      manner = manner_;
    }
    reply = ask_once(ask, manner);
    if (!give_way(ask, reply, manner)) {
      break;
    }
    const std::lock_guard guard(lock_);
    manner_ = manner;
  }
  if (reply.answered()) {
    const std::lock_guard guard(lock_);
    longest_s_ = std::max(longest_s_, reply.total_ms / 1e3);
    FirstByteModel& model = streams(ask, manner_) ? streamed_ : whole_;
    // A stream may open before the prompt is read.
    model.add(prompt_bytes(ask), std::max(reply.first_byte_ms, reply.first_token_ms) / 1e3);
  }
  add_memory(reply);
  hide_key(reply);
  return reply;
}

/// Asked at most every two seconds: it is for the curves, where requests go one at a time.
void Endpoint::add_memory(Reply& reply) {
  const auto now = std::chrono::steady_clock::now();
  std::string url;
  {
    const std::lock_guard guard(lock_);
    if (!reply.answered() || now - memory_asked_ < std::chrono::seconds(2)) {
      return;
    }
    memory_asked_ = now;
    url = found_.memory;
  }
  if (!url.empty()) {
    reply.memory_mib = memory_mib(fetch(url, "", {2, 2, 2, 2}).body);
  }
}

std::optional<int64_t> Endpoint::count_tokens(const std::string& text) {
  std::string field, model;
  {
    const std::lock_guard guard(lock_);
    field = found_.tokenizer;
    model = manner_.model;
  }
  if (field.empty()) {
    return std::nullopt;
  }
  const Clocks clocks{options_.connect_s, options_.first_byte_s, options_.idle_s, options_.total_s};
  const Answer answer = fetch(url_.root() + "/tokenize", tokenize_body(field, model, text), clocks);
  return answer.status == 200 ? token_count(answer.body) : std::nullopt;
}

std::optional<std::string> Endpoint::render(const std::vector<Message>& messages) {
  {
    const std::lock_guard guard(lock_);
    if (found_.facts.server != "llama.cpp") {
      return std::nullopt;
    }
  }
  const Clocks clocks{options_.connect_s, options_.first_byte_s, options_.idle_s, options_.total_s};
  const Answer answer = fetch(url_.root() + "/apply-template", template_body(messages), clocks);
  return answer.status == 200 ? rendered_prompt(answer.body) : std::nullopt;
}

}  // namespace

std::unique_ptr<Subject> open_endpoint(const EndpointOptions& options) {
  if (options.stream != "auto" && options.stream != "on" && options.stream != "off") {
    throw Error(Code::Usage, "--stream must be auto, on or off, got '", options.stream, "'");
  }
  for (const double seconds :
       {options.connect_s, options.first_byte_s, options.idle_s, options.total_s}) {
    if (!(seconds > 0 && seconds <= 1e6)) {
      throw Error(Code::Usage, "a time-out must be above 0 and at most 1000000 s, got ", seconds);
    }
  }
  if (options.most_bytes < 1024) {
    throw Error(Code::Usage, "an answer must be allowed 1024 bytes at least, got ",
                options.most_bytes);
  }
  if (std::any_of(options.key.begin(), options.key.end(),
                  [](unsigned char c) { return c <= 0x20 || c >= 0x7f; })) {
    throw Error(Code::Usage,
                "the key holds a space, a line end or another character that no "
                "header may have");
  }
  check_send(options.send);
  return std::make_unique<Endpoint>(options);
}

}  // namespace gyre::accept

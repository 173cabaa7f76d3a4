#include "gyre/accept/http_reply.h"

#include <algorithm>
#include <ctime>

#include "gyre/accept/http_error.h"
#include "gyre/accept/http_sse.h"
#include "gyre/accept/json_reply.h"
#include "gyre/accept/json_value.h"
#include "gyre/base/error.h"

namespace gyre::accept {

namespace {

constexpr double kApartMs = 1.0;              // closer pieces of text came together
constexpr int64_t kMostErrorBytes = 1 << 20;  // of a body that is no answer anyway
constexpr std::string_view kBom = "\xef\xbb\xbf";

/// Bytes that no answer within max_tokens has: a token is about 4, white space up to 128.
int64_t most_text(const Ask& ask) {
  return 4096 + 64 * ask.max_tokens + (ask.echo ? prompt_bytes(ask) : 0);
}

enum class Shape { Unknown, Stream, Body };

bool is_good(int status) {
  return status >= 200 && status < 300;
}

/// By the first bytes that mean something. Unknown: more are needed.
Shape shape_of(std::string_view bytes) {
  if (bytes.substr(0, 3) == kBom.substr(0, bytes.size())) {
    if (bytes.size() <= kBom.size()) {
      return Shape::Unknown;
    }
    bytes.remove_prefix(kBom.size());
  }
  const size_t first = bytes.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) {
    return Shape::Unknown;
  }
  bytes.remove_prefix(first);
  if (bytes.front() == ':') {
    return Shape::Stream;
  }
  const size_t end = bytes.find_first_of(":\r\n");
  const std::string_view name = bytes.substr(0, end);
  for (const std::string_view field : {"data", "event", "id", "retry", "error"}) {
    if (end == std::string_view::npos && field.substr(0, name.size()) == name) {
      return Shape::Unknown;
    }
    if (end != std::string_view::npos && bytes[end] == ':' && field == name) {
      return Shape::Stream;
    }
  }
  return Shape::Body;
}

}  // namespace

struct ReplyReader::State {
  Ask ask;  // a copy: small beside what comes back
  int64_t most_bytes;
  Shape shape = Shape::Unknown;
  SseParser parser;
  std::string body;  // the beginning, until its shape shows; then of a body
  Parts parts;
  bool done = false;  // [DONE]
  bool failed = false;
  int64_t text_events = 0;
  double last_piece_ms = -1;

  State(const Ask& one, int64_t most) : ask(one), most_bytes(most), parser(most) {}

  Take stream(std::string_view bytes, double at_ms);
  void on_event(const SseEvent& event, double at_ms);
  void on_object(const Json& object, double at_ms);
  void fail(Fault fault, const std::string& text);
  void fail_by(const ErrorWords& words);
  void count_piece(double at_ms);
  void read_body(const Transfer& transfer);
  void end_stream(const Transfer& transfer);
};

void ReplyReader::State::fail(Fault fault, const std::string& text) {
  if (!failed) {
    parts.reply.fault = fault;
    parts.reply.fault_text = one_line(text);
    failed = true;
  }
}

void ReplyReader::State::fail_by(const ErrorWords& words) {
  if (!failed) {
    classify(words, 200, parts.reply);
    parts.reply.error_in_200 = true;
    failed = true;
  }
}

/// Pieces of text that came apart in time, and when the first came.
void ReplyReader::State::count_piece(double at_ms) {
  Reply& reply = parts.reply;
  ++text_events;
  if (reply.first_token_ms == 0) {
    reply.first_token_ms = at_ms;
  }
  if (last_piece_ms < 0 || at_ms - last_piece_ms >= kApartMs) {
    ++reply.chunks;
    last_piece_ms = at_ms;
  }
}

void ReplyReader::State::on_object(const Json& object, double at_ms) {
  if (!object.is_object()) {
    fail(Fault::Format, "an event of the stream is no JSON object");
    return;
  }
  const Json& choices = at(object, "choices");
  const Json& error = at(object, "error");
  const bool has_error = !(error.is_null() || error == "" || error == false) ||
                         text_at(object, "object") == "error" ||
                         (!choices.is_array() && !at(object, "detail").is_null());
  if (has_error) {
    fail_by(error_words(object.dump(-1, ' ', false, Json::error_handler_t::replace))
                .value_or(ErrorWords{}));
    return;
  }
  const size_t before = parts.reply.text.size() + parts.reply.reasoning.size();
  add_object(object, parts);
  if (parts.reply.text.size() + parts.reply.reasoning.size() > before) {
    count_piece(at_ms);
  }
  if (static_cast<int64_t>(parts.reply.text.size()) > most_text(ask)) {
    return fail(Fault::TooMuch, str("the answer goes on past max_tokens ", ask.max_tokens, ": ",
                                    parts.reply.text.size(), " bytes so far"));
  }
  if (parts.reply.finish == "error") {
    const Json& choice = choices.is_array() && !choices.empty() ? choices.front() : choices;
    fail_by(error_words(choice.dump(-1, ' ', false, Json::error_handler_t::replace))
                .value_or(ErrorWords{"finish_reason error", "", {}, {}, 0}));
  }
}

void ReplyReader::State::on_event(const SseEvent& event, double at_ms) {
  if (failed || done) {
    return;
  }
  if (event.kind == SseEvent::Kind::Data && event.data.rfind("[DONE]", 0) == 0) {
    done = true;
    return;
  }
  std::string why;
  const std::optional<Json> json = parse_json(event.data, &why);
  const bool named_error = event.kind == SseEvent::Kind::Error || event.event == "error";
  if (named_error) {
    ErrorWords words = error_words(event.data).value_or(ErrorWords{});
    // Without an envelope, {"code", "message"} is the error itself.
    words.message = words.message.empty() ? event.data.substr(0, 2000) : words.message;
    fail_by(words);
  } else if (event.kind == SseEvent::Kind::Junk) {
    if (json && json->is_object() && !at(*json, "error").is_null()) {
      fail_by(error_words(event.data).value_or(ErrorWords{}));
    } else {
      fail(Fault::Format, "a line of the stream is no event: " + event.data.substr(0, 200));
    }
  } else if (!json && event.data.rfind("{\"error\"", 0) == 0) {
    // Written by hand around the words of an exception, whose quotes and line ends break it.
    fail_by(error_words(event.data).value_or(ErrorWords{}));
  } else if (!json) {
    fail(Fault::Format, "an event of the stream is " + why);
  } else {
    on_object(*json, at_ms);
  }
}

Take ReplyReader::State::stream(std::string_view bytes, double at_ms) {
  const bool fits = parser.feed(bytes, [&](const SseEvent& event) { on_event(event, at_ms); });
  if (!fits) {
    return Take::TooMuch;
  }
  if (done || failed) {
    return Take::Enough;
  }
  return text_events == 0 && parts.reply.finish.empty() ? Take::Early : Take::More;
}

/// An answer or an error that came as one piece.
void ReplyReader::State::read_body(const Transfer& transfer) {
  const bool good = is_good(transfer.status);
  if (transfer.fault != Fault::None && (good || transfer.status == 0 || body.empty())) {
    return fail(transfer.fault, transfer.why);
  }
  if (!good) {
    ErrorWords words = error_words(body).value_or(ErrorWords{one_line(body), "", {}, {}, 0});
    parts.reply.retry_after_s =
        retry_after_s(transfer.retry_after, transfer.retry_after_ms, std::time(nullptr));
    classify(words, transfer.status, parts.reply);
    failed = true;
    return;
  }
  std::string why;
  std::string_view text = body;
  text.remove_prefix(text.rfind(kBom, 0) == 0 ? kBom.size() : 0);
  const std::optional<Json> json = parse_json(text, &why);
  if (!json) {
    const bool empty = text.find_first_not_of(" \t\r\n") == std::string_view::npos;
    return fail(Fault::Format, empty ? "an answer without a body" : "the answer is " + why);
  }
  on_object(*json, 0);
  parts.reply.chunks = parts.has_text() ? 1 : 0;
  parts.reply.burst = true;
  if (!failed && !parts.has_choice) {
    fail(Fault::Format, "the answer holds no choices: " + body.substr(0, 200));
  }
}

void ReplyReader::State::end_stream(const Transfer& transfer) {
  parser.finish([&](const SseEvent& event) { on_event(event, transfer.total_ms); });
  parts.reply.burst = text_events > 0 && parts.reply.chunks <= 1;
  if (transfer.fault != Fault::None && !done) {
    // What broke off in the middle of an event is a cut, not a bad event.
    failed = failed && parts.reply.error_in_200;
    return fail(transfer.fault, transfer.why);
  }
  if (!failed && parts.reply.finish.empty()) {
    fail(Fault::NoEnd, "the stream ended without a finish_reason");
  }
}

ReplyReader::ReplyReader(const Ask& ask, int64_t most_bytes)
    : state_(std::make_unique<State>(ask, most_bytes)) {}
ReplyReader::~ReplyReader() = default;

Take ReplyReader::feed(std::string_view bytes, int status, double at_ms) {
  State& state = *state_;
  if (state.shape == Shape::Stream) {
    return state.stream(bytes, at_ms);
  }
  if (state.body.empty()) {  // white space before an answer has no end of its own
    bytes.remove_prefix(std::min(bytes.find_first_not_of(" \t\r\n"), bytes.size()));
  }
  if (static_cast<int64_t>(state.body.size() + bytes.size()) > state.most_bytes) {
    return Take::TooMuch;
  }
  state.body.append(bytes);
  if (!is_good(status)) {
    state.shape = Shape::Body;  // an error, whatever it looks like
    const bool whole = static_cast<int64_t>(state.body.size()) < kMostErrorBytes;
    return whole ? Take::More : Take::Enough;
  }
  if (state.shape == Shape::Unknown) {
    state.shape = shape_of(state.body);
  }
  if (state.shape == Shape::Stream) {
    const std::string begun = std::move(state.body);
    state.body.clear();
    return state.stream(begun, at_ms);
  }
  return Take::More;
}

Reply ReplyReader::finish(const Transfer& transfer) {
  State& state = *state_;
  Reply& reply = state.parts.reply;
  reply.http = transfer.status;
  if (state.shape == Shape::Stream) {
    state.end_stream(transfer);
  } else {
    state.read_body(transfer);
  }
  settle_logprobs(state.ask, state.parts);
  reply.connect_ms = transfer.connect_ms;
  reply.first_byte_ms = transfer.first_byte_ms;
  reply.total_ms = transfer.total_ms;
  reply.bytes = transfer.bytes;
  return std::move(reply);
}

}  // namespace gyre::accept

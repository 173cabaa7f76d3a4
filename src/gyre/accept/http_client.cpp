// libcurl with its multi interface, one handle at a time, because its own time-outs are neither
// separate nor finer than a second.
#include "gyre/accept/http_client.h"

#include <curl/curl.h>
#include <strings.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <mutex>
#include <utility>

#include "gyre/accept/http_url.h"
#include "gyre/base/error.h"
#include "gyre/base/files.h"
#include "gyre/base/progress.h"

namespace gyre::accept {

namespace {

constexpr int kMostHops = 5;
constexpr int64_t kMostHeaderBytes = 256 << 10;
constexpr double kSliceS = 0.1;  // Ctrl-C and clocks are looked at that often

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point then) {
  return std::chrono::duration<double>(Clock::now() - then).count();
}

/// A connection cache with the one handle that uses it.
struct Line {
  Line() : multi(curl_multi_init()), easy(curl_easy_init()) {
    if (multi == nullptr || easy == nullptr) {
      throw Error(Code::Internal, "libcurl gives no handle");
    }
  }
  ~Line() {
    curl_easy_cleanup(easy);
    curl_multi_cleanup(multi);
  }
  Line(const Line&) = delete;
  Line& operator=(const Line&) = delete;
  CURLM* multi;
  CURL* easy;
};

struct Reset {
  CURL* easy;
  ~Reset() { curl_easy_reset(easy); }
};

struct HeaderList {
  curl_slist* list = nullptr;
  ~HeaderList() { curl_slist_free_all(list); }
  void add(const std::string& line) { list = curl_slist_append(list, line.c_str()); }
};

/// What the callbacks of one hop know.
struct Hop {
  Transfer& result;
  const Call& call;
  const Sink& sink;
  Clock::time_point start;
  int64_t header_bytes = 0;
  double last_byte_s = -1, sent_s = -1, enough_s = -1;  // since the start
  Take take = Take::More;
  bool header_too_long = false;
  char error[CURL_ERROR_SIZE] = "";
};

bool is_redirect(int status) {
  return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

void set_header(Hop& hop, const std::string& line) {
  const size_t colon = line.find(':');
  if (colon == std::string::npos) {
    return;
  }
  const std::string name = line.substr(0, colon);
  size_t from = line.find_first_not_of(" \t", colon + 1);
  from = from == std::string::npos ? line.size() : from;
  const std::string value = line.substr(from, line.find_last_not_of(" \t\r\n") + 1 - from);
  for (auto& [known, field] :
       {std::pair{"server", &hop.result.server}, std::pair{"retry-after", &hop.result.retry_after},
        std::pair{"retry-after-ms", &hop.result.retry_after_ms}}) {
    if (strcasecmp(name.c_str(), known) == 0) {
      *field = value.substr(0, 200);
    }
  }
}

size_t on_header(char* data, size_t one, size_t n, void* user) {
  Hop& hop = *static_cast<Hop*>(user);
  hop.header_bytes += static_cast<int64_t>(one * n);
  if (hop.header_bytes > kMostHeaderBytes) {
    hop.header_too_long = true;
    return 0;
  }
  set_header(hop, std::string(data, one * n));
  return one * n;
}

size_t on_body(char* data, size_t one, size_t n, void* user) {
  Hop& hop = *static_cast<Hop*>(user);
  const size_t size = one * n;
  hop.last_byte_s = seconds_since(hop.start);
  if (hop.result.first_byte_ms == 0) {
    hop.result.first_byte_ms = 1e3 * hop.last_byte_s;
  }
  hop.result.bytes += static_cast<int64_t>(size);
  if (hop.result.bytes > hop.call.most_bytes) {
    hop.take = Take::TooMuch;
    return 0;
  }
  if (is_redirect(hop.result.status) || hop.take == Take::Enough) {
    return size;
  }
  hop.take = hop.sink({data, size}, hop.result.status, 1e3 * hop.last_byte_s);
  hop.enough_s = hop.take == Take::Enough ? hop.last_byte_s : -1;
  return hop.take == Take::TooMuch ? 0 : size;
}

// on_body needs the status, and libcurl tells it on request only.
size_t on_body_with_status(char* data, size_t one, size_t n, void* user) {
  auto& [easy, hop] = *static_cast<std::pair<CURL*, Hop*>*>(user);
  long status = 0;
  curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
  hop->result.status = static_cast<int>(status);
  return on_body(data, one, n, hop);
}

/// What a transfer that libcurl ended itself came to.
void judge(CURLcode code, Hop& hop) {
  Transfer& result = hop.result;
  if (hop.take == Take::Enough || code == CURLE_OK) {
    return;
  }
  const bool begun = result.status != 0;
  result.why = hop.error[0] != '\0' ? hop.error : curl_easy_strerror(code);
  switch (code) {
    case CURLE_WRITE_ERROR:
      result.fault =
          hop.take == Take::TooMuch || hop.header_too_long ? Fault::TooMuch : Fault::Format;
      break;
    case CURLE_OUT_OF_MEMORY:  // also a header line above libcurl's own limit
      result.fault = Fault::TooMuch;
      break;
    case CURLE_BAD_CONTENT_ENCODING:
    case CURLE_UNSUPPORTED_PROTOCOL:
      result.fault = Fault::Format;
      break;
    default:
      result.fault = begun ? Fault::Cut : Fault::Connect;
  }
  if (hop.header_too_long || (result.fault == Fault::TooMuch && result.bytes == 0)) {
    result.why = "the header of the answer is longer than 256 KiB";
  } else if (result.fault == Fault::TooMuch) {
    result.why = str("the answer is longer than allowed, stopped after ", result.bytes, " bytes");
  }
}

/// The clock that ran out, if any.
bool out_of_time(Hop& hop) {
  constexpr double kRestS = 1;
  const Clocks& clocks = hop.call.clocks;
  const double now = seconds_since(hop.start);
  Transfer& result = hop.result;
  if (hop.take == Take::Enough) {
    return now - hop.enough_s > kRestS;
  }
  if (now > clocks.total_s) {
    result.fault = Fault::Deadline;
    result.why = str("no end of the answer after ", clocks.total_s, " s");
  } else if (hop.last_byte_s < 0 && hop.sent_s >= 0 && now - hop.sent_s > clocks.first_byte_s) {
    result.fault = Fault::FirstByte;
    result.why = str("no byte of an answer after ", clocks.first_byte_s, " s");
  } else if (hop.last_byte_s >= 0 && hop.take == Take::Early) {
    // Some servers open the stream first and read the prompt then.
    if (now - hop.last_byte_s > std::max(clocks.first_byte_s, clocks.idle_s)) {
      result.fault = Fault::FirstByte;
      result.why = str("no word of an answer after ", now, " s, the stream is open");
    }
  } else if (hop.last_byte_s >= 0 && now - hop.last_byte_s > clocks.idle_s) {
    result.fault = Fault::Idle;
    result.why = str("the answer stopped for ", clocks.idle_s, " s");
  }
  return result.fault != Fault::None;
}

double ms_of(CURL* easy, CURLINFO which) {
  curl_off_t us = 0;
  curl_easy_getinfo(easy, which, &us);
  return static_cast<double>(us) / 1e3;
}

/// Attached to its multi handle for the time of one hop.
class Attached {
 public:
  explicit Attached(Line& line) : line_(line) { curl_multi_add_handle(line.multi, line.easy); }
  ~Attached() { curl_multi_remove_handle(line_.multi, line_.easy); }
  Attached(const Attached&) = delete;
  Attached& operator=(const Attached&) = delete;

 private:
  Line& line_;
};

void run_hop(Line& line, Hop& hop) {
  const Attached attached(line);
  int running = 1;
  while (true) {
    curl_multi_perform(line.multi, &running);
    if (hop.sent_s < 0 && ms_of(line.easy, CURLINFO_PRETRANSFER_TIME_T) > 0) {
      hop.sent_s = seconds_since(hop.start);
    }
    if (running == 0) {
      break;
    }
    if (interrupted()) {
      throw Interrupted(Code::CheckFailed,
                        "accept: interrupted; what was answered is kept, the same command goes on");
    }
    if (out_of_time(hop)) {
      return;
    }
    const Clocks& clocks = hop.call.clocks;
    const double slice =
        std::min({kSliceS, clocks.first_byte_s / 4, clocks.idle_s / 4, clocks.total_s / 4});
    curl_multi_poll(line.multi, nullptr, 0, std::max(1, static_cast<int>(1e3 * slice)), nullptr);
  }
  int left = 0;
  while (const CURLMsg* message = curl_multi_info_read(line.multi, &left)) {
    if (message->msg == CURLMSG_DONE) {
      long status = 0;
      curl_easy_getinfo(line.easy, CURLINFO_RESPONSE_CODE, &status);
      hop.result.status = static_cast<int>(status);
      judge(message->data.result, hop);
    }
  }
}

void allow_http_only(CURL* easy) {
#if LIBCURL_VERSION_NUM >= 0x075500
  curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
#else
  curl_easy_setopt(easy, CURLOPT_PROTOCOLS, CURLPROTO_HTTP | CURLPROTO_HTTPS);
#endif
}

/// The system's certificates and those of the file, as libcurl wants them in one piece.
std::string certificates(const std::string& ca_file) {
  if (ca_file.empty()) {
    return "";
  }
  const std::string own = read_file(ca_file);
  if (own.find("-----BEGIN CERTIFICATE-----") == std::string::npos) {
    throw Error(Code::Usage, "--ca ", ca_file, " holds no certificate in PEM form");
  }
  const curl_version_info_data* about = curl_version_info(CURLVERSION_NOW);
  if (about->age < CURLVERSION_SEVENTH || about->cainfo == nullptr) {
    return own;
  }
  try {
    return read_file(about->cainfo) + "\n" + own;
  } catch (const Error&) {  // a system without certificates of its own
    return own;
  }
}

}  // namespace

struct HttpClient::State {
  HttpOptions options;
  std::string certificates;
  std::mutex lock;
  std::deque<std::unique_ptr<Line>> idle;

  std::unique_ptr<Line> take() {
    const std::lock_guard guard(lock);
    if (idle.empty()) {
      return std::make_unique<Line>();
    }
    std::unique_ptr<Line> line = std::move(idle.back());
    idle.pop_back();
    return line;
  }
  void give(std::unique_ptr<Line> line) {
    const std::lock_guard guard(lock);
    idle.push_back(std::move(line));
  }
  void prepare(Line& line, const Call& call, HeaderList& headers) const;
  /// One request and its answer; `next` is where a redirect points.
  Transfer hop(Line& line, const Call& call, const Sink& sink, Clock::time_point start,
               std::string& next) const;
};

void HttpClient::State::prepare(Line& line, const Call& call, HeaderList& headers) const {
  CURL* easy = line.easy;
  const std::string& url = call.url;
  curl_easy_setopt(easy, CURLOPT_URL, url.c_str());
  curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
  allow_http_only(easy);
  curl_easy_setopt(easy, CURLOPT_ACCEPT_ENCODING, "gzip, deflate");
  curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);  // a long prompt is silent for minutes
  curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS,
                   std::max(1L, static_cast<long>(1e3 * call.clocks.connect_s)));
  if (is_loopback(url)) {
    curl_easy_setopt(easy, CURLOPT_PROXY, "");
  }
  if (!certificates.empty()) {
    curl_blob blob{const_cast<char*>(certificates.data()), certificates.size(), CURL_BLOB_NOCOPY};
    curl_easy_setopt(easy, CURLOPT_CAINFO_BLOB, &blob);
  }
  headers.add("User-Agent: gyre");
  headers.add("Expect:");  // libcurl would wait a second before it sends a long prompt
  if (call.method == "POST") {
    headers.add("Content-Type: application/json");
    curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(call.body.size()));
    curl_easy_setopt(easy, CURLOPT_POSTFIELDS, call.body.data());
  }
  if (!options.key.empty() && same_origin(url, options.origin)) {
    headers.add("Authorization: Bearer " + options.key);
  }
  curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers.list);
}

HttpClient::HttpClient(const HttpOptions& options) : state_(std::make_unique<State>()) {
  static const CURLcode ready = curl_global_init(CURL_GLOBAL_ALL);
  if (ready != CURLE_OK) {
    throw Error(Code::Internal, "libcurl does not start: ", curl_easy_strerror(ready));
  }
  state_->options = options;
  state_->certificates = certificates(options.ca_file);
}

HttpClient::~HttpClient() = default;

Transfer HttpClient::State::hop(Line& line, const Call& call, const Sink& sink,
                                Clock::time_point start, std::string& next) const {
  Transfer result;
  Hop hop{.result = result, .call = call, .sink = sink, .start = start};
  std::pair<CURL*, Hop*> context{line.easy, &hop};
  HeaderList headers;
  const Reset reset{line.easy};  // nothing of the handle may point to the variables above
  prepare(line, call, headers);
  curl_easy_setopt(line.easy, CURLOPT_HEADERFUNCTION, &on_header);
  curl_easy_setopt(line.easy, CURLOPT_HEADERDATA, &hop);
  curl_easy_setopt(line.easy, CURLOPT_WRITEFUNCTION, &on_body_with_status);
  curl_easy_setopt(line.easy, CURLOPT_WRITEDATA, &context);
  curl_easy_setopt(line.easy, CURLOPT_ERRORBUFFER, hop.error);
  run_hop(line, hop);
  result.connect_ms = ms_of(line.easy, CURLINFO_CONNECT_TIME_T);
  char* place = nullptr;
  curl_easy_getinfo(line.easy, CURLINFO_REDIRECT_URL, &place);
  next = place != nullptr && is_redirect(result.status) ? place : "";
  return result;
}

Transfer HttpClient::perform(const Call& call, const Sink& sink) {
  const Clock::time_point start = Clock::now();
  std::unique_ptr<Line> line = state_->take();
  Transfer result;
  Call current = call;
  for (int hops = 0;; ++hops) {
    std::string next;
    result = state_->hop(*line, current, sink, start, next);
    if (result.fault != Fault::None || next.empty()) {
      break;
    }
    const bool plain = next.starts_with("http://");
    if (hops == kMostHops || (!plain && !next.starts_with("https://")) ||
        (plain && current.url.starts_with("https://"))) {
      result.fault = Fault::Client;
      result.why = hops == kMostHops ? "redirected more than 5 times"
                                     : "redirected to where nothing is sent: " + next;
      break;
    }
    current.method = result.status == 303 ? "GET" : current.method;
    current.url = next;
  }
  state_->give(std::move(line));
  if (result.fault != Fault::None && current.url != call.url && !result.why.empty()) {
    result.why += " (redirected to " + current.url + ")";
  }
  result.total_ms = 1e3 * seconds_since(start);
  return result;
}

}  // namespace gyre::accept

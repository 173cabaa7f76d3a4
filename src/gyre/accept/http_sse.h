// Server-sent events, read as they come: any split of the bytes gives the same events, and no
// more than one line and one event are held at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace gyre::accept {

struct SseEvent {
  enum class Kind {
    Data,   // the usual one
    Error,  // a non-standard line "error: ..."
    Junk,   // a line that is no field: a page of HTML, a bare JSON object
  };
  Kind kind = Kind::Data;
  std::string event;  // "" = message
  std::string data;
};

class SseParser {
 public:
  using Sink = std::function<void(const SseEvent&)>;
  explicit SseParser(int64_t most_bytes) : most_(most_bytes) {}  // of a line and of an event

  /// False when a line or an event is longer than allowed; nothing may be fed after that.
  bool feed(std::string_view bytes, const Sink& sink);
  /// The end of the stream: what stands there without its line end or blank line counts, too.
  bool finish(const Sink& sink);

 private:
  bool end_line(const Sink& sink);
  void dispatch(const Sink& sink);
  bool append(std::string& to, std::string_view bytes) const;

  int64_t most_;
  std::string line_, data_, event_;
  bool first_line_ = true;  // a byte order mark may stand before it
  bool comment_ = false;    // the rest of the line is not kept
  bool after_cr_ = false;   // a line feed belongs to the end before it
  bool has_data_ = false;
};

}  // namespace gyre::accept

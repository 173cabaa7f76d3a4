#include "gyre/accept/http_sse.h"

#include <algorithm>
#include <cctype>

namespace gyre::accept {

namespace {

constexpr std::string_view kBom = "\xef\xbb\xbf";

bool is_field_name(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_';
  });
}

}  // namespace

bool SseParser::append(std::string& to, std::string_view bytes) const {
  if (static_cast<int64_t>(to.size() + bytes.size()) > most_) {
    return false;
  }
  to.append(bytes);
  return true;
}

bool SseParser::feed(std::string_view bytes, const Sink& sink) {
  while (!bytes.empty()) {
    if (after_cr_ && bytes.front() == '\n') {
      bytes.remove_prefix(1);
    }
    if (bytes.empty()) {  // the next bytes may not begin with another line feed of that end
      after_cr_ = false;
      return true;
    }
    after_cr_ = false;
    if (line_.empty() && bytes.front() == ':') {
      comment_ = true;
    }
    const size_t end = bytes.find_first_of("\r\n");
    if (!comment_ && !append(line_, bytes.substr(0, end))) {
      return false;
    }
    if (end == std::string_view::npos) {
      return true;
    }
    after_cr_ = bytes[end] == '\r';
    bytes.remove_prefix(end + 1);
    if (!end_line(sink)) {
      return false;
    }
  }
  return true;
}

bool SseParser::finish(const Sink& sink) {
  const bool fits = line_.empty() || end_line(sink);
  dispatch(sink);
  return fits;
}

void SseParser::dispatch(const Sink& sink) {
  if (!data_.empty()) {  // the standard drops empty ones
    sink({SseEvent::Kind::Data, event_, data_});
  }
  has_data_ = false;
  data_.clear();
  event_.clear();
}

bool SseParser::end_line(const Sink& sink) {
  std::string_view line = line_;
  if (first_line_ && line.rfind(kBom, 0) == 0) {
    line.remove_prefix(kBom.size());
  }
  first_line_ = false;
  bool fits = true;
  if (comment_ || (!line.empty() && line.front() == ':')) {
    comment_ = false;
  } else if (line.empty()) {
    dispatch(sink);
  } else {
    const size_t colon = line.find(':');
    const std::string_view name = line.substr(0, colon);
    std::string_view value = colon == std::string_view::npos ? "" : line.substr(colon + 1);
    if (!value.empty() && value.front() == ' ') {
      value.remove_prefix(1);
    }
    if (name == "data") {
      fits = (!has_data_ || append(data_, "\n")) && append(data_, value);
      has_data_ = true;
    } else if (name == "event") {
      event_ = value;
    } else if (name == "error") {
      sink({SseEvent::Kind::Error, event_, std::string(value)});
    } else if (!is_field_name(name) || colon == std::string_view::npos) {
      dispatch(sink);  // what stands before it says more
      sink({SseEvent::Kind::Junk, event_, std::string(line)});
    }
  }
  line_.clear();
  return fits;
}

}  // namespace gyre::accept

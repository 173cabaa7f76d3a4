#include "gyre/accept/http_url.h"

#include <curl/curl.h>

#include <memory>

#include "gyre/base/error.h"

namespace gyre::accept {

namespace {

using Handle = std::unique_ptr<CURLU, decltype(&curl_url_cleanup)>;

std::string part(CURLU* url, CURLUPart which, unsigned flags = 0) {
  char* text = nullptr;
  if (curl_url_get(url, which, &text, flags) != CURLUE_OK || text == nullptr) {
    return "";
  }
  std::string value = text;
  curl_free(text);
  return value;
}

Handle read(const std::string& text) {
  Handle url(curl_url(), &curl_url_cleanup);
  if (url &&
      curl_url_set(url.get(), CURLUPART_URL, text.c_str(), CURLU_NON_SUPPORT_SCHEME) != CURLUE_OK) {
    url.reset();
  }
  return url;
}

Url parts_of(CURLU* handle) {
  Url url;
  url.scheme = part(handle, CURLUPART_SCHEME);
  url.host = part(handle, CURLUPART_HOST);
  url.port = part(handle, CURLUPART_PORT, CURLU_DEFAULT_PORT);
  url.given_port = part(handle, CURLUPART_PORT);
  url.path = part(handle, CURLUPART_PATH);
  while (!url.path.empty() && url.path.back() == '/') {
    url.path.pop_back();
  }
  return url;
}

bool ends_with(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

}  // namespace

std::string Url::base() const {
  return scheme + "://" + host + (given_port.empty() ? "" : ":" + given_port) + path;
}

std::string Url::root() const {
  const std::string whole = base();
  return ends_with(whole, "/v1") ? whole.substr(0, whole.size() - 3) : whole;
}

bool Url::loopback() const {
  return host == "localhost" || host.rfind("127.", 0) == 0 || host == "[::1]";
}

Url parse_url(const std::string& text) {
  const std::string hint = "; write it like http://127.0.0.1:8080/v1";
  if (text.find("://") == std::string::npos) {
    throw Error(Code::Usage, "endpoint '", text, "' has no http:// or https://", hint);
  }
  const Handle handle = read(text);
  if (!handle) {
    throw Error(Code::Usage, "endpoint '", text, "' is no address", hint);
  }
  if (!part(handle.get(), CURLUPART_USER).empty() ||
      !part(handle.get(), CURLUPART_PASSWORD).empty()) {
    throw Error(Code::Usage,
                "the endpoint holds a name or a password, which would be recorded; "
                "give a key through the environment");
  }
  Url url = parts_of(handle.get());
  if (text.find(url.host + ":/") != std::string::npos || text.ends_with(url.host + ":")) {
    throw Error(Code::Usage, "endpoint '", text, "' has no port after ':'", hint);
  }
  if (url.scheme != "http" && url.scheme != "https") {
    throw Error(Code::Usage, "endpoint '", text, "' must begin with http:// or https://, found ",
                url.scheme);
  }
  if (!part(handle.get(), CURLUPART_QUERY).empty() ||
      !part(handle.get(), CURLUPART_FRAGMENT).empty()) {
    throw Error(Code::Usage, "the endpoint must end before '?' and '#'", hint);
  }
  for (const char* end : {"/chat/completions", "/completions", "/models"}) {
    if (ends_with(url.path, end)) {
      throw Error(Code::Usage, "endpoint '", text, "' must be the part before ", end, hint);
    }
  }
  return url;
}

bool same_origin(const std::string& url, const std::string& origin) {
  const Handle handle = read(url);
  return handle && parts_of(handle.get()).origin() == origin;
}

bool is_loopback(const std::string& url) {
  const Handle handle = read(url);
  return handle && parts_of(handle.get()).loopback();
}

}  // namespace gyre::accept

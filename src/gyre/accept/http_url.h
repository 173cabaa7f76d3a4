// The parts of an endpoint's address that the client decides by.
#pragma once

#include <string>

namespace gyre::accept {

struct Url {
  std::string scheme, host, port;
  std::string path;  // "/v1", without a slash at its end

  std::string origin() const { return scheme + "://" + host + ":" + port; }
  std::string base() const;  // as it was given, without a slash at its end
  std::string root() const;  // base() without "/v1": where a server's own paths begin
  bool loopback() const;

  std::string given_port;  // "" = the scheme's own
};

/// throws Error(Usage) naming what is wrong with it
Url parse_url(const std::string& text);
/// Same scheme, host and port.
bool same_origin(const std::string& url, const std::string& origin);
bool is_loopback(const std::string& url);

}  // namespace gyre::accept

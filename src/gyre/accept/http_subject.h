// An OpenAI-compatible endpoint as a subject. The only files that know libcurl are accept/http_*.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "gyre/accept/subject.h"

namespace gyre::accept {

struct EndpointOptions {
  std::string url;    // "http://127.0.0.1:8080/v1"
  std::string model;  // "" = the only one of /v1/models
  std::string key;    // from the environment; never written anywhere, never sent to another host
  std::string stream = "auto";  // auto = on where the server can
  std::string send;             // JSON object added to every body
  double connect_s = 10;
  double first_byte_s = 120;  // grows with the prompt once answers were timed
  double idle_s = 60;         // between two bytes; comments of a stream are signs of life
  double total_s = 1800;
  int64_t most_bytes = 64 << 20;  // of one answer
  std::string ca_file;            // certificates to trust beside the system's; "" = none
};

/// Checks the URL; nothing is sent yet. Error(Usage) names what is wrong with it.
std::unique_ptr<Subject> open_endpoint(const EndpointOptions& options);

}  // namespace gyre::accept

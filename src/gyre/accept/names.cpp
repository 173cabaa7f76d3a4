// Names of the values of subject.h, as they stand in records.
#include <array>
#include <utility>

#include "gyre/accept/subject.h"

namespace gyre::accept {

namespace {

constexpr std::array<std::pair<Fault, const char*>, 15> kFaults{{
    {Fault::None, "none"},
    {Fault::Connect, "connect"},
    {Fault::FirstByte, "first_byte"},
    {Fault::Idle, "idle"},
    {Fault::Deadline, "deadline"},
    {Fault::TooMuch, "too_much"},
    {Fault::Cut, "cut"},
    {Fault::NoEnd, "no_end"},
    {Fault::Format, "format"},
    {Fault::Overflow, "overflow"},
    {Fault::RateLimit, "rate_limit"},
    {Fault::Busy, "busy"},
    {Fault::Server, "server"},
    {Fault::Client, "client"},
    {Fault::Auth, "auth"},
}};

}  // namespace

const char* name_of(Api api) {
  return api == Api::Chat ? "chat" : "completions";
}

const char* name_of(Fault fault) {
  for (const auto& [value, name] : kFaults) {
    if (value == fault) {
      return name;
    }
  }
  return "unknown";
}

std::optional<Fault> fault_of(const std::string& name) {
  for (const auto& [value, known] : kFaults) {
    if (name == known) {
      return value;
    }
  }
  return std::nullopt;
}

bool is_final(Fault fault) {
  return fault == Fault::Overflow || fault == Fault::RateLimit || fault == Fault::Client ||
         fault == Fault::Auth;
}

int64_t prompt_bytes(const Ask& ask) {
  int64_t bytes = 0;
  for (const Message& message : ask.messages) {
    bytes += static_cast<int64_t>(message.content.size());
  }
  return bytes;
}

}  // namespace gyre::accept

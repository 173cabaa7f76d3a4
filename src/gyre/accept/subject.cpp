#include "gyre/accept/subject.h"

#include <algorithm>
#include <array>
#include <utility>

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

int64_t prompt_bytes(const Ask& ask) {
  size_t bytes = 0;
  for (const Message& message : ask.messages) {
    bytes += message.content.size();
  }
  return static_cast<int64_t>(bytes);
}

const char* name_of(Fault fault) {
  const auto found = std::find_if(kFaults.begin(), kFaults.end(),
                                  [&](const auto& entry) { return entry.first == fault; });
  return found == kFaults.end() ? "?" : found->second;
}

std::optional<Fault> fault_of(const std::string& name) {
  for (const auto& [fault, known] : kFaults) {
    if (name == known) {
      return fault;
    }
  }
  return std::nullopt;
}

bool is_final(Fault fault) {
  switch (fault) {
    case Fault::None:  // an answer is not asked for again
    case Fault::Overflow:
    case Fault::RateLimit:
    case Fault::Client:
    case Fault::Auth:
      return true;
    default:
      return false;
  }
}

bool may_pass(Fault fault) {
  switch (fault) {
    case Fault::Connect:
    case Fault::FirstByte:
    case Fault::Idle:
    case Fault::Deadline:
    case Fault::Cut:
    case Fault::Busy:
    case Fault::Server:
      return true;
    default:
      return false;
  }
}

}  // namespace gyre::accept

// Findings: what was seen, by a stable name, with the items that show it. findings.def lists them
// with what to look at on the server.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace gyre::accept {

/// Fault: the acceptance fails. Warning: it may pass, but someone should look. Note: good to know.
enum class Severity { Fault, Warning, Note };
const char* name_of(Severity severity);

struct FindingKind {
  const char* id;  // "TRUNC_HEAD"
  Severity severity;
  const char* title;      // "the beginning of long prompts is not read"
  const char* llama_cpp;  // what to look at, per server; "" = nothing known
  const char* vllm;
  const char* ollama;
  const char* sglang;
};

const std::vector<FindingKind>& finding_kinds();
/// throws Error(Internal) when there is no such kind
const FindingKind& finding_kind(const std::string& id);

struct Finding {
  std::string id;
  std::string says;                          // one sentence with the measured numbers
  std::vector<std::string> evidence;         // sids
  std::map<std::string, std::string> facts;  // "window": "2048", "endpoint": "chat", ...
};

}  // namespace gyre::accept

#include "gyre/accept/findings.h"

#include <algorithm>

#include "gyre/accept/acceptance.h"
#include "gyre/base/error.h"

namespace gyre::accept {

const char* name_of(Severity severity) {
  switch (severity) {
    case Severity::Fault:
      return "fault";
    case Severity::Warning:
      return "warning";
    case Severity::Note:
      return "note";
  }
  return "note";
}

const std::vector<FindingKind>& finding_kinds() {
  static const std::vector<FindingKind> kinds = {
#define GYRE_FINDING(id, severity, title, llama_cpp, vllm, ollama, sglang) \
  {#id, Severity::severity, title, llama_cpp, vllm, ollama, sglang},
#include "gyre/accept/findings.def"
#undef GYRE_FINDING
  };
  return kinds;
}

const FindingKind& finding_kind(const std::string& id) {
  const auto& kinds = finding_kinds();
  const auto found = std::find_if(kinds.begin(), kinds.end(),
                                  [&](const FindingKind& kind) { return kind.id == id; });
  if (found == kinds.end()) {
    throw Error(Code::Internal, "finding '", id, "' is not in findings.def");
  }
  return *found;
}

/// One finding of a kind: what is found again adds its evidence and the facts that were not known.
bool Bench::serves(Api api) const {
  return session.subject().can(api) && (!result.one.only || *result.one.only == api);
}

void Bench::find(std::string id, std::string says, std::vector<std::string> evidence,
                 std::map<std::string, std::string> facts) {
  finding_kind(id);
  auto& all = result.findings;
  const auto known =
      std::find_if(all.begin(), all.end(), [&](const Finding& other) { return other.id == id; });
  if (known == all.end()) {
    all.push_back({std::move(id), std::move(says), std::move(evidence), std::move(facts)});
    return;
  }
  for (auto& sid : evidence) {
    if (std::find(known->evidence.begin(), known->evidence.end(), sid) == known->evidence.end()) {
      known->evidence.push_back(std::move(sid));
    }
  }
  known->facts.merge(facts);
}

}  // namespace gyre::accept

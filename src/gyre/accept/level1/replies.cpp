// What single replies say about usage, streams, thoughts, rates and waiting, as a pure function.
#include <algorithm>
#include <functional>
#include <optional>

#include "gyre/accept/level1/probe.h"
#include "gyre/base/error.h"

namespace gyre::accept {

namespace {

using Pick = std::function<bool(const Seen&)>;

std::vector<const Seen*> those(const std::vector<Seen>& all, const Pick& pick) {
  std::vector<const Seen*> chosen;
  for (const Seen& seen : all) {
    if (pick(seen)) {
      chosen.push_back(&seen);
    }
  }
  return chosen;
}

std::vector<std::string> evidence_of(const std::vector<const Seen*>& some) {
  std::vector<std::string> all;
  for (const Seen* seen : some) {
    if (all.size() < 8 && std::find(all.begin(), all.end(), seen->sid()) == all.end()) {
      all.push_back(seen->sid());
    }
  }
  return all;
}

bool plain(const Seen& seen) {
  const auto odd = seen.sample.item.dials.find("odd");
  return seen.sample.item.ask.messages.size() == 1 &&
         (odd == seen.sample.item.dials.end() || odd->second == "0");
}

void usage_missing(const std::vector<Seen>& all, std::vector<Finding>& findings) {
  const auto answered = those(all, [](const Seen& seen) { return seen.reply().answered(); });
  const auto missing = those(
      all, [](const Seen& seen) { return seen.reply().answered() && !seen.reported.has_value(); });
  const auto zero = those(all, [](const Seen& seen) {
    return seen.reply().answered() && seen.reported.value_or(1) == 0;
  });
  if (answered.size() < 2) {
    return;
  }
  if (missing.size() == answered.size()) {
    findings.push_back({"USAGE_MISSING",
                        str("none of ", answered.size(), " answers has usage.prompt_tokens"),
                        evidence_of(missing),
                        {}});
  }
  if (zero.size() == answered.size()) {
    findings.push_back({"USAGE_ZERO",
                        str("usage.prompt_tokens is 0 in all of ", answered.size(), " answers"),
                        evidence_of(zero),
                        {}});
  }
}

/// Two prompts that came back whole, of clearly different size, with one and the same count.
std::optional<std::pair<const Seen*, const Seen*>> same_count(const std::vector<Seen>& all) {
  const auto kept = those(all, [](const Seen& seen) {
    return seen.outcome == Outcome::Kept && plain(seen) && seen.reported.value_or(0) > 0;
  });
  for (const Seen* a : kept) {
    for (const Seen* b : kept) {
      const auto bytes_a = double(prompt_bytes(a->sample.item.ask));
      const auto bytes_b = double(prompt_bytes(b->sample.item.ask));
      if (bytes_b > 1.3 * bytes_a && *b->reported <= *a->reported + 2) {
        return std::pair(a, b);
      }
    }
  }
  return std::nullopt;
}

void usage_inconsistent(const std::vector<Seen>& all, std::vector<Finding>& findings) {
  const auto add = [&](std::string says, const std::vector<const Seen*>& shown) {
    findings.push_back({"USAGE_INCONSISTENT", std::move(says), evidence_of(shown), {}});
  };
  const auto chunks = those(all, [](const Seen& seen) { return seen.reply().usage_disagrees; });
  if (!chunks.empty()) {
    return add(str("prompt_tokens differ between the pieces of one stream, in ", chunks.size(),
                   " answers"),
               chunks);
  }
  const auto sums = those(all, [](const Seen& seen) {
    const Reply& reply = seen.reply();
    return reply.prompt_tokens && reply.completion_tokens && reply.total_tokens &&
           *reply.total_tokens != *reply.prompt_tokens + *reply.completion_tokens;
  });
  if (!sums.empty()) {
    const Reply& reply = sums.front()->reply();
    return add(str("total_tokens is ", *reply.total_tokens, ", but prompt and answer have ",
                   *reply.prompt_tokens, " and ", *reply.completion_tokens),
               sums);
  }
  if (const auto same = same_count(all)) {
    return add(str("a longer prompt that came back whole is counted ", *same->second->reported,
                   ", a shorter one ", *same->first->reported),
               {same->first, same->second});
  }
  const auto off = those(all, [](const Seen& seen) {
    return seen.outcome == Outcome::Kept && plain(seen) && seen.reported.value_or(0) > 0 &&
           seen.counted_otherwise();
  });
  if (off.size() >= 2) {
    add(str("a prompt that came back whole is counted ", *off.front()->reported, ", expected ",
            off.front()->predicted),
        off);
  }
}

bool no_end(const Seen& seen) {
  const Reply& reply = seen.reply();
  switch (reply.fault) {
    case Fault::NoEnd:
    case Fault::TooMuch:
      return true;
    case Fault::Cut:
    case Fault::Idle:
    case Fault::Deadline:
      return reply.http == 200;
    default:
      return false;
  }
}

void streams(const std::vector<Seen>& all, double slow_s, std::vector<Finding>& findings) {
  const auto errors = those(all, [](const Seen& seen) { return seen.reply().error_in_200; });
  if (!errors.empty()) {
    const Reply& reply = errors.front()->reply();
    findings.push_back(
        {"ERROR_IN_200_STREAM",
         str("an answer with status 200 ends in an error (", name_of(reply.fault),
             "): ", reply.fault_text),
         evidence_of(errors),
         {{"class", name_of(reply.fault)}, {"final", is_final(reply.fault) ? "true" : "false"}}});
  }
  const auto endless = those(all, no_end);
  if (!endless.empty()) {
    const Reply& reply = endless.front()->reply();
    findings.push_back({"STREAM_NO_END",
                        str(endless.size(), " of ", all.size(), " answers have no end (",
                            name_of(reply.fault), "): ", reply.fault_text),
                        evidence_of(endless),
                        {{"class", name_of(reply.fault)}}});
  }
  const auto slow = those(all, [&](const Seen& seen) {
    const Reply& reply = seen.reply();
    const double ms = std::max(reply.first_token_ms, reply.first_byte_ms);
    if (seen.sample.in_flight > 1) {
      return false;  // it may have waited behind the others
    }
    return reply.fault == Fault::FirstByte || (reply.answered() && ms > 1000 * slow_s);
  });
  if (!slow.empty()) {
    const Reply& reply = slow.back()->reply();
    const double ms = std::max(reply.first_token_ms, reply.first_byte_ms);
    const int64_t together = slow.back()->sample.in_flight;
    const std::string load = together > 1 ? str(", ", together, " in flight,") : "";
    findings.push_back(
        {"SLOW_FIRST_BYTE",
         reply.answered()
             ? str("the first text of a prompt of ", slow.back()->predicted, " tokens", load,
                   " came after ", int64_t(ms), " ms; many clients wait ", slow_s, " s")
             : str("nothing came for a prompt of ", slow.back()->predicted, " tokens", load, ": ",
                   reply.fault_text),
         evidence_of(slow),
         {{"ms", str(int64_t(ms))}}});
  }
}

void thoughts(const std::vector<Seen>& all, std::vector<Finding>& findings) {
  const auto only = those(all, [](const Seen& seen) { return seen.only_reasoning && !seen.cut(); });
  if (!only.empty()) {
    findings.push_back({"EMPTY_WITH_REASONING",
                        str(only.size(),
                            " answers that ended by themselves have text in the "
                            "reasoning and none in the content"),
                        evidence_of(only),
                        {}});
  }
  const auto shown = those(all, [](const Seen& seen) { return seen.thinks_in_content; });
  if (!shown.empty()) {
    findings.push_back({"THINK_IN_CONTENT",
                        str(shown.size(), " answers have their chain of thought in the content"),
                        evidence_of(shown),
                        {}});
  }
}

void rates(const std::vector<Seen>& all, std::vector<Finding>& findings) {
  const auto refused = those(all, [](const Seen& seen) { return seen.outcome == Outcome::Rate; });
  if (refused.empty()) {
    return;
  }
  const Seen& first = *refused.front();
  std::map<std::string, std::string> facts;
  if (first.reply().limit_tokens) {
    facts["limit"] = str(*first.reply().limit_tokens);
  }
  findings.push_back({"RATE_UNSATISFIABLE",
                      str("a prompt of ", first.predicted,
                          " tokens is over a limit that waiting "
                          "does not lift: ",
                          first.reply().fault_text),
                      evidence_of(refused), std::move(facts)});
}

}  // namespace

std::vector<Finding> diagnose_replies(const std::vector<Seen>& all, double slow_s) {
  std::vector<Finding> findings;
  usage_missing(all, findings);
  usage_inconsistent(all, findings);
  streams(all, slow_s, findings);
  thoughts(all, findings);
  rates(all, findings);
  return findings;
}

}  // namespace gyre::accept

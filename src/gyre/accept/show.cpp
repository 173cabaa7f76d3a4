#include "gyre/accept/show.h"

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>
#include <sstream>

#include "gyre/accept/replay.h"
#include "gyre/accept/result_words.h"
#include "gyre/base/error.h"
#include "gyre/base/files.h"
#include "gyre/base/options.h"

namespace gyre::accept {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

Sample find_sample(const Record& record, std::string sid) {
  std::transform(sid.begin(), sid.end(), sid.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  std::optional<Sample> found;
  for (Sample& sample : record.samples()) {
    if (!sample.item.sid.starts_with(sid)) {
      continue;
    }
    if (found) {
      throw Error(Code::Usage, "accept show: several items begin with '", sid, "', ",
                  found->item.sid, " and ", sample.item.sid, " among them; give more digits");
    }
    found = std::move(sample);
  }
  if (!found) {
    throw Error(Code::Usage, "accept show: no item '", sid,
                "' in this run; accept.json lists them under failures[] and evidence[]");
  }
  return *found;
}

/// Why there may be no rebuilt prompt, or the item itself.
std::optional<Item> try_rebuild(const Record& record, const fs::path& dir, const std::string& sid,
                                std::string& why_not) {
  try {
    const KnownFacts known = read_facts(dir / "facts.json");
    std::optional<Item> item = rebuild(record, known, options_of(record.settings()), sid);
    why_not = item ? "" : "this version of gyre does not come to it again";
    return item;
  } catch (const Error& fault) {
    why_not = fault.what();
    return std::nullopt;
  }
}

void line(std::ostream& out, const char* name, const std::string& value) {
  if (!value.empty()) {
    out << "  " << name << ": " << value << '\n';
  }
}

std::string tokens(const std::optional<int64_t>& value) {
  return value ? grouped(*value) : "not told";
}

void write_item(std::ostream& out, const Item& item) {
  out << "item " << item.sid << '\n';
  line(out, "task",
       str("level ", item.level, ", ", item.task, ", ", item.arm, ", index ", item.index,
           item.occasion > 0 ? str(", occasion ", item.occasion) : ""));
  line(out, "request",
       str(name_of(item.ask.api), ", ", grouped(item.length), " tokens aimed at, ",
           item.ask.max_tokens, " for the answer"));
  const std::string dials = dials_text(item.dials);
  line(out, "dials", dials.empty() ? "" : dials.substr(2));
  for (size_t i = 0; i < item.evidence.size(); ++i) {
    const Place& place = item.evidence[i];
    line(out, "evidence",
         str("at ", share_text(place.fraction, kUnknown, kUnknown), ", about token ",
             grouped(place.from_start), ", ", grouped(place.from_end), " before the end",
             i < item.sentences.size() ? ": " + one_line(item.sentences[i]) : ""));
  }
  line(out, "right answer", one_line(joined(item.gold, " ")));
  for (const Distractor& one : item.distractors) {
    line(out, "distractor",
         str(one.code, ", ", one.similarity, " equal slots, at ",
             share_text(one.fraction, kUnknown, kUnknown)));
  }
}

}  // namespace

Shown show(const fs::path& dir, const std::string& sid) {
  const auto record = Record::read_only(dir);
  Shown out;
  out.sample = find_sample(*record, sid);
  const std::string& whole = out.sample.item.sid;
  std::string why_not;
  const std::optional<Item> item = try_rebuild(*record, dir, whole, why_not);
  const bool kept = fs::exists(dir / "prompts" / (whole + ".txt.gz"));
  const std::string file = kept ? read_prompt(dir, whole) : "";
  if (item) {
    out.rebuilt = true;
    out.sample.item = *item;
    out.prompt = prompt_text(item->ask);
    out.same = sha256(out.prompt) == out.sample.prompt_sha && (!kept || file == out.prompt);
    out.origin = str("rebuilt by going through the run again; ",
                     out.same ? "equal byte for byte to " : "NOT equal to ",
                     kept ? "the one that was kept" : "the one that was sent, by its hash");
  } else if (kept) {
    out.prompt = file;
    out.same = sha256(file) == out.sample.prompt_sha;
    out.origin =
        str("as it was kept", out.same ? "" : ", damaged since", "; it was not rebuilt: ", why_not);
  } else {
    out.origin = "not kept, because the item ended ok; it was not rebuilt: " + why_not;
  }
  return out;
}

std::string to_text(const Shown& shown) {
  std::ostringstream out;
  const Reply& r = shown.sample.reply;
  write_item(out, shown.sample.item);
  out << "reply\n";
  line(out, "verdict",
       str(name_of(shown.sample.verdict), shown.sample.found.empty() ? "" : ": ",
           one_line(shown.sample.found)));
  line(out, "fault",
       r.answered()
           ? ""
           : str(name_of(r.fault), r.fault_text.empty() ? "" : ": ", one_line(r.fault_text)));
  line(out, "status",
       str("http ", r.http, ", finish ", r.finish.empty() ? "-" : one_line(r.finish), ", attempt ",
           shown.sample.attempt, ", ", shown.sample.in_flight, " in flight"));
  line(out, "tokens",
       str(tokens(r.prompt_tokens), " of prompt (", grouped(shown.sample.item.tokens_predicted),
           " predicted), ", tokens(r.completion_tokens), " of answer"));
  out << "answer\n" << clean_utf8(r.text) << '\n';
  if (!r.reasoning.empty()) {
    out << "reasoning\n" << clean_utf8(r.reasoning) << '\n';
  }
  out << "prompt (" << shown.origin << ")\n" << clean_utf8(shown.prompt);
  return out.str();
}

std::string to_json(const Shown& shown) {
  Json out{{"schema", "gyre.accept_show/1"},
           {"sample", Json::parse(to_line(shown.sample, "", Ending::Final))},
           {"prompt", shown.prompt},
           {"origin", shown.origin},
           {"rebuilt", shown.rebuilt},
           {"same", shown.same}};
  out["sample"]["prompt_sha"] = shown.sample.prompt_sha;
  return out.dump(1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace gyre::accept

#include "gyre/accept/facts_file.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "gyre/base/error.h"
#include "gyre/base/files.h"
#include "gyre/base/json_words.h"

namespace gyre::accept {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kSchema = "gyre.accept_facts/1";

}  // namespace

FactsKeeper::FactsKeeper(std::unique_ptr<Subject> subject, std::filesystem::path file)
    : subject_(std::move(subject)), file_(std::move(file)) {}

Facts FactsKeeper::discover() {
  Facts facts = subject_->discover();
  write_file_atomic(file_, to_json(KnownFacts{name(), facts}) + "\n");
  return facts;
}

std::string to_json(const KnownFacts& known) {
  Json claims = Json::array();
  for (const Claim& claim : known.facts.claims) {
    claims.push_back(Json{{"source", claim.source}, {"tokens", claim.tokens}});
  }
  Json out{{"schema", kSchema},
           {"subject", known.subject},
           {"server", known.facts.server},
           {"model", known.facts.model},
           {"claims", std::move(claims)}};
  out["slots"] = known.facts.slots ? Json(*known.facts.slots) : Json();
  out["counts_tokens"] = known.facts.counts_tokens;
  out["echoes"] = known.facts.echoes;
  out["other"] = known.facts.other;
  return out.dump(1, ' ', false, Json::error_handler_t::replace);
}

KnownFacts read_facts(const std::filesystem::path& file) {
  const Json json = Json::parse(read_file(file), nullptr, false);
  try {
    if (json.at("schema") != kSchema) {
      throw Error(Code::Format, "schema ", json.at("schema").dump());
    }
    KnownFacts out;
    out.subject = json.at("subject").get<std::string>();
    out.facts.server = json.at("server").get<std::string>();
    out.facts.model = json.at("model").get<std::string>();
    for (const Json& claim : json.at("claims")) {
      out.facts.claims.push_back(
          {claim.at("source").get<std::string>(), claim.at("tokens").get<int64_t>()});
    }
    if (!json.at("slots").is_null()) {
      out.facts.slots = json.at("slots").get<int64_t>();
    }
    out.facts.counts_tokens = json.at("counts_tokens").get<bool>();
    out.facts.echoes = json.value("echoes", false);
    out.facts.other = json.at("other").get<std::map<std::string, std::string>>();
    return out;
  } catch (const std::exception& fault) {
    throw Error(Code::Format, file.string(), ": not the facts of an acceptance run (",
                json_words(fault.what()), ")");
  }
}

}  // namespace gyre::accept

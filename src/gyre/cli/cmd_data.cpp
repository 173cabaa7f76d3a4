// `gyre data list|fetch|prepare`: named corpora, and tokenised shards with their manifest.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "gyre/base/error.h"
#include "gyre/base/options.h"
#include "gyre/cli/option_set.h"
#include "gyre/cli/verb.h"
#include "gyre/data/corpora.h"
#include "gyre/data/dataset.h"
#include "gyre/data/manifest.h"
#include "gyre/data/prepare.h"

namespace gyre::cli {
namespace {

using Json = nlohmann::ordered_json;

struct DataVerb {
  CommonOptions common;
  OptionSet options;
  data::DataOptions data;
  std::vector<std::string> names;  // corpora to fetch, or paths to prepare
  std::string out;
  bool force = false;
};

int run_list(const DataVerb& verb) {
  Json rows = Json::array();
  for (const data::Corpus& corpus : data::corpora()) {
    rows.push_back({{"name", corpus.name},
                    {"package", corpus.package},
                    {"licence", corpus.licence},
                    {"about", corpus.about},
                    {"download_mb", corpus.download_mb},
                    {"present", data::corpus_present(corpus)}});
  }
  if (verb.common.json != "-") {
    std::printf("%-12s %-8s %-8s %-28s %s\n", "name", "present", "download", "package",
                "what it is; licence");
    for (const Json& row : rows) {
      std::printf("%-12s %-8s %5.1f MB %-28s %s; %s\n", row["name"].get<std::string>().c_str(),
                  row["present"].get<bool>() ? "yes" : "no", row["download_mb"].get<double>(),
                  row["package"].get<std::string>().c_str(),
                  row["about"].get<std::string>().c_str(),
                  row["licence"].get<std::string>().c_str());
    }
  }
  write_json(verb.common, Json{{"schema", "gyre.data/1"}, {"corpora", rows}}.dump(1));
  return 0;
}

const data::Corpus& known_corpus(const std::string& name) {
  if (const data::Corpus* corpus = data::find_corpus(name); corpus != nullptr) {
    return *corpus;
  }
  std::vector<std::string> names;
  for (const data::Corpus& corpus : data::corpora()) {
    names.push_back(corpus.name);
  }
  const std::string near = nearest_name(name, names);
  throw Error(Code::Usage, "no corpus '", name, "'",
              near.empty() ? "" : "; did you mean '" + near + "'?", "; see: gyre data list");
}

int run_fetch(const DataVerb& verb) {
  std::vector<const data::Corpus*> wanted;
  wanted.reserve(verb.names.size());
  for (const std::string& name : verb.names) {
    wanted.push_back(&known_corpus(name));
  }
  Json rows = Json::array();
  for (const data::Corpus* corpus : wanted) {
    const data::FetchResult result = data::fetch_corpus(*corpus, verb.force);
    rows.push_back({{"name", corpus->name},
                    {"dir", result.dir.string()},
                    {"documents", result.documents},
                    {"bytes", result.bytes},
                    {"downloaded", result.downloaded}});
    if (verb.common.json != "-") {
      std::printf("%-12s %s: %lld documents, %lld bytes, in %s\n", corpus->name.c_str(),
                  result.downloaded ? "fetched" : "already there",
                  static_cast<long long>(result.documents), static_cast<long long>(result.bytes),
                  result.dir.c_str());
    }
  }
  write_json(verb.common, Json{{"schema", "gyre.data/1"}, {"fetched", rows}}.dump(1));
  return 0;
}

void print_prepared(const data::Dataset& dataset, const data::Manifest& m) {
  const auto row = [](const char* name, const data::SplitRecord& split) {
    std::printf("%-12s %lld documents, %lld bytes, %lld tokens\n", name,
                static_cast<long long>(split.documents), static_cast<long long>(split.bytes),
                static_cast<long long>(split.tokens));
  };
  std::printf("%-12s %s\n", "dataset", dataset.dir.c_str());
  row("train", m.train);
  row("val", m.val);
  std::printf("%-12s %s, vocabulary %lld\n", "tokenizer", m.tokenizer_kind.c_str(),
              static_cast<long long>(m.vocab));
  std::printf("%-12s %s; %lld duplicates left out\n", "split", m.split_rule.c_str(),
              static_cast<long long>(m.duplicates));
  std::printf("%-12s %s\n", "sha256", m.corpus_hash.c_str());
}

/// Paths given as arguments stand in for --data.
void take_paths(DataVerb& verb) {
  if (verb.names.empty()) {
    return;
  }
  if (verb.options.given("data")) {
    throw Error(Code::Usage, "give paths as arguments or with --data, not both");
  }
  data::DataOptions named;
  named.data = verb.names;
  for (const Field& field : fields_of(named)) {
    if (field.name == "data") {
      verb.options.set("data", field.get(), "argument");
    }
  }
}

int run_prepare(DataVerb& verb) {
  if (!verb.common.config.empty()) {
    verb.options.apply_file(verb.common.config);
  }
  verb.options.apply_flags();
  take_paths(verb);
  if (verb.common.print_config) {
    std::cout << verb.options.describe();
    return 0;
  }
  apply_common(verb.common);
  const data::Dataset dataset = verb.out.empty()
                                    ? data::open_dataset(verb.data)
                                    : data::prepare_into(verb.data, verb.out, verb.force);
  const data::Manifest manifest = data::read_manifest(dataset.dir / "manifest.json");
  if (verb.common.json != "-") {
    print_prepared(dataset, manifest);
  }
  Json json = Json::parse(data::manifest_to_json(manifest));
  json["schema"] = "gyre.data/1";
  json["dir"] = dataset.dir.string();
  write_json(verb.common, json.dump(1));
  return 0;
}

}  // namespace

Action add_data(CLI::App& app) {
  auto verb = std::make_shared<DataVerb>();
  app.require_subcommand(1);
  CLI::App* list = app.add_subcommand("list", "named corpora: package, licence, present or not");
  list->add_option("--json", verb->common.json, "write the list as JSON to PATH; - = stdout")
      ->type_name("PATH");
  CLI::App* fetch = app.add_subcommand("fetch", "download and extract named corpora");
  fetch->add_option("NAME", verb->names, "corpora (gyre data list)")->required()->type_name("");
  fetch->add_flag("--force", verb->force, "fetch again although a copy is there");
  fetch->add_option("--json", verb->common.json, "write the result as JSON to PATH; - = stdout")
      ->type_name("PATH");
  CLI::App* prepare = app.add_subcommand("prepare", "tokenise corpora, files and folders");
  prepare->add_option("PATH", verb->names, "corpus names, files and folders [shakespeare]")
      ->type_name("");
  verb->options.add(*prepare, "Data", fields_of(verb->data));
  prepare->add_option("--out", verb->out, "folder to write; default: the cache")->type_name("DIR");
  prepare->add_flag("--force", verb->force, "replace what an earlier prepare wrote to --out");
  add_common(*prepare, verb->common);
  app.footer("Corpora and shards are kept in $GYRE_CACHE, else ~/.cache/gyre.");
  return [verb, list, fetch] {
    if (list->parsed()) {
      return run_list(*verb);
    }
    return fetch->parsed() ? run_fetch(*verb) : run_prepare(*verb);
  };
}

}  // namespace gyre::cli

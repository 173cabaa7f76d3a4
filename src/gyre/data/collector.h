// Writes the documents of a fetched corpus: *.txt in UTF-8 and provenance.json, in a folder that is
// shown only when complete.
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "gyre/data/corpora.h"

namespace gyre::data {

class Collector {
 public:
  Collector(const Corpus& corpus, std::filesystem::path folder);
  /// `name` is a relative path; slashes become dashes and .txt is appended. Text that is no UTF-8
  /// is read as ISO 8859-1; a byte-order mark goes; empty texts are left out.
  void add(const std::string& name, std::string text);
  /// What was taken, e.g. "Debian anarchism 15.3-3"; for provenance.json.
  void set_origin(std::string origin) { origin_ = std::move(origin); }
  /// Writes provenance.json. Error(Remote) when there is no document at all.
  void finish();
  int64_t documents() const { return static_cast<int64_t>(files_.size()); }
  int64_t bytes() const { return bytes_; }

 private:
  struct File {
    std::string name, sha256;
    size_t bytes;
    bool latin1;
  };
  const Corpus& corpus_;
  std::filesystem::path folder_;
  std::string origin_;
  std::vector<File> files_;
  std::set<std::string> names_;
  int64_t bytes_ = 0;
};

}  // namespace gyre::data

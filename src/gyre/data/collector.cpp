#include "gyre/data/collector.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

#include "gyre/base/error.h"
#include "gyre/base/files.h"
#include "gyre/data/utf8.h"

namespace gyre::data {
namespace {

/// Not synced: three thousand syncs take a minute. Sizes are checked whenever the corpus is used.
void write_unsynced(const std::filesystem::path& path, const std::string& text) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out << text << std::flush;
  if (!out) {
    throw Error(Code::File, path.string(), ": cannot write: ", std::strerror(errno));
  }
}

}  // namespace

Collector::Collector(const Corpus& corpus, std::filesystem::path folder)
    : corpus_(corpus), folder_(std::move(folder)) {}

void Collector::add(const std::string& name, std::string text) {
  const bool latin1 = invalid_utf8_at(text) != std::string_view::npos;
  if (latin1) {
    text = latin1_to_utf8(text);
  }
  if (text.starts_with("\xef\xbb\xbf")) {
    text.erase(0, 3);
  }
  if (text.empty() || text.find('\0') != std::string::npos) {
    return;
  }
  std::string file = name;
  std::replace(file.begin(), file.end(), '/', '-');
  while (!names_.insert(file).second) {  // "a/b" and "a-b"
    file += '+';
  }
  file += ".txt";
  write_unsynced(folder_ / file, text);
  bytes_ += static_cast<int64_t>(text.size());
  files_.push_back({file, sha256(text), text.size(), latin1});
}

void Collector::finish() {
  if (files_.empty()) {
    throw Error(Code::Remote, corpus_.name, ": ", corpus_.package,
                " holds no text where it was expected; the package has changed");
  }
  std::sort(files_.begin(), files_.end(),
            [](const File& a, const File& b) { return a.name < b.name; });
  nlohmann::ordered_json files = nlohmann::ordered_json::array();
  for (const File& file : files_) {
    files.push_back({{"name", file.name},
                     {"bytes", file.bytes},
                     {"sha256", file.sha256},
                     {"converted_from", file.latin1 ? "ISO-8859-1" : ""}});
  }
  const nlohmann::ordered_json json = {{"schema", "gyre.provenance/1"},
                                       {"name", corpus_.name},
                                       {"package", corpus_.package},
                                       {"origin", origin_},
                                       {"licence", corpus_.licence},
                                       {"documents", documents()},
                                       {"bytes", bytes_},
                                       {"files", files}};
  write_file_atomic(folder_ / "provenance.json", json.dump(1) + "\n");
}

}  // namespace gyre::data

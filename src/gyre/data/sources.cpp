#include "gyre/data/sources.h"

#include <algorithm>

#include "gyre/base/error.h"
#include "gyre/base/log.h"
#include "gyre/base/options.h"
#include "gyre/data/corpora.h"

namespace gyre::data {
namespace fs = std::filesystem;
namespace {

bool hidden(const fs::path& path) {
  return path.filename().string().starts_with(".");
}

/// Regular files below `folder`, by relative path; hidden files and folders are left out.
std::vector<Source> folder_sources(const fs::path& folder, const std::string& shown) {
  std::vector<Source> sources;
  std::error_code error;
  fs::recursive_directory_iterator it(folder, error);
  for (; !error && it != fs::recursive_directory_iterator(); it.increment(error)) {
    if (hidden(it->path())) {
      if (it->is_directory()) {
        it.disable_recursion_pending();
      }
      continue;
    }
    std::error_code ignored;
    if (it->is_regular_file(ignored)) {
      const std::string relative = it->path().lexically_relative(folder).generic_string();
      sources.push_back(describe_source(it->path(), shown + "/" + relative));
      sources.back().in_folder = true;
    }
  }
  if (error) {
    throw Error(Code::File, shown, ": cannot list the folder: ", error.message());
  }
  if (sources.empty()) {
    throw Error(Code::Format, shown, ": empty folder: no files to read");
  }
  std::sort(sources.begin(), sources.end(),
            [](const Source& a, const Source& b) { return a.name < b.name; });
  return sources;
}

std::vector<Source> corpus_sources(const Corpus& corpus) {
  const FetchResult fetched = fetch_corpus(corpus);
  std::vector<Source> sources = folder_sources(fetched.dir, corpus.name);
  std::erase_if(sources, [](const Source& s) { return s.path.extension() != ".txt"; });
  return sources;
}

[[noreturn]] void unknown_value(const std::string& value) {
  std::vector<std::string> names;
  std::string listed;
  for (const Corpus& corpus : corpora()) {
    names.push_back(corpus.name);
    listed += (listed.empty() ? "" : ", ") + corpus.name;
  }
  const std::string near = nearest_name(value, names);
  throw Error(Code::Usage, "--data '", value,
              "': no such file or folder, and no corpus of that name",
              near.empty() ? "" : "; did you mean '" + near + "'?", "; corpora: ", listed);
}

std::vector<Source> sources_of(const std::string& value) {
  if (const Corpus* corpus = find_corpus(value); corpus != nullptr) {
    if (fs::exists(value)) {
      log(Level::Warning, "--data ", value, " means the corpus; for the path write ./", value);
    }
    return corpus_sources(*corpus);
  }
  std::error_code ignored;
  const fs::file_status status = fs::status(value, ignored);
  if (!fs::exists(status)) {
    unknown_value(value);
  }
  if (fs::is_directory(status)) {
    return folder_sources(value, fs::path(value).lexically_normal().generic_string());
  }
  if (!fs::is_regular_file(status)) {
    throw Error(Code::File, value, ": neither a regular file nor a folder");
  }
  return {describe_source(value, value)};
}

}  // namespace

Source describe_source(const fs::path& path, std::string name) {
  Source source;
  source.path = path;
  source.name = std::move(name);
  fs::path rest = path.filename();
  if (rest.extension() == ".gz" || rest.extension() == ".zst") {
    source.compression = rest.extension() == ".gz" ? Compression::Gzip : Compression::Zstd;
    rest = rest.stem();
  }
  if (rest.extension() == ".jsonl" || rest.extension() == ".ndjson") {
    source.kind = SourceKind::JsonLines;
  } else if (rest.extension() == ".bin") {
    source.kind = SourceKind::Tokens;
    if (source.compression != Compression::None) {
      throw Error(Code::Usage, source.name,
                  ": token shards are memory-mapped; decompress it first");
    }
  }
  return source;
}

std::vector<Source> resolve_sources(const std::vector<std::string>& data) {
  std::vector<Source> sources;
  for (const std::string& value : data) {
    std::vector<Source> found = sources_of(value);
    std::move(found.begin(), found.end(), std::back_inserter(sources));
  }
  return sources;
}

}  // namespace gyre::data

#include "gyre/data/readers.h"

#include "gyre/base/error.h"
#include "gyre/base/files.h"
#include "gyre/base/log.h"
#include "gyre/base/progress.h"
#include "gyre/data/json_lines.h"
#include "gyre/data/utf8.h"

namespace gyre::data {
namespace {

struct LeftOut {
  int64_t binary = 0, empty = 0;
  std::string example;
};

std::string content_of(const Source& source) {
  std::string bytes = read_file(source.path);
  if (!source.sha256.empty() && sha256(bytes) != source.sha256) {
    throw Error(Code::Format, source.name, ": changed while it was being read; run again");
  }
  return source.compression == Compression::None
             ? bytes
             : decompress(source.compression, bytes, source.name);
}

void check_text(std::string_view text, const std::string& name) {
  if (const size_t nul = text.find('\0'); nul != std::string_view::npos) {
    throw Error(Code::Format, name, ": binary file: NUL byte at offset ", nul,
                "; UTF-16 text is converted with: iconv -f UTF-16 -t UTF-8");
  }
  if (const size_t bad = invalid_utf8_at(text); bad != std::string_view::npos) {
    throw Error(Code::Format, name, ": invalid UTF-8 at byte ", bad,
                "; convert it first, e.g.: iconv -f ISO-8859-1 -t UTF-8");
  }
}

/// True when a folder's file is to be left out.
bool skip_in_folder(const Source& source, std::string_view text, LeftOut& left_out) {
  const bool empty = text.empty();
  const bool binary = !empty && text.substr(0, 8192).find('\0') != std::string_view::npos;
  if (!source.in_folder || (!empty && !binary)) {
    return false;
  }
  ++(empty ? left_out.empty : left_out.binary);
  if (binary && left_out.example.empty()) {
    left_out.example = source.name;
  }
  return true;
}

void add(std::string text, std::vector<Document>& documents, LeftOut& left_out) {
  if (text.empty()) {
    ++left_out.empty;
    return;
  }
  std::string hash = sha256(text);
  documents.push_back({std::move(text), std::move(hash)});
}

void report(const LeftOut& left_out) {
  if (left_out.empty > 0) {
    log(Level::Info, "empty documents left out: ", left_out.empty);
  }
  if (left_out.binary > 0) {
    log(Level::Info, "binary files left out: ", left_out.binary, ", e.g. ", left_out.example);
  }
}

}  // namespace

std::vector<Document> read_documents(const std::vector<Source>& sources, const std::string& field) {
  std::vector<Document> documents;
  LeftOut left_out;
  Progress progress("reading", static_cast<int64_t>(sources.size()), "files");
  int64_t done = 0;
  for (const Source& source : sources) {
    std::string text = content_of(source);
    progress.update(++done);
    if (skip_in_folder(source, text, left_out)) {
      continue;
    }
    if (text.empty()) {
      throw Error(Code::Format, source.name, ": empty file");
    }
    if (source.kind == SourceKind::JsonLines) {
      for (std::string& line : read_json_lines(text, field, source.name)) {
        add(std::move(line), documents, left_out);
      }
      continue;
    }
    check_text(text, source.name);
    add(std::move(text), documents, left_out);
  }
  report(left_out);
  return documents;
}

}  // namespace gyre::data

// Decides by content what a path is, and reads folders. Only regular files and folders are opened:
// a pipe would hang, a device has no end.
#include <algorithm>
#include <array>
#include <fstream>

#include "gyre/base/error.h"
#include "gyre/base/files.h"
#include "gyre/inspect/inspect.h"
#include "gyre/inspect/readers.h"
#include "gyre/inspect/shards.h"

namespace gyre::inspect {
namespace {

namespace fs = std::filesystem;

constexpr uintmax_t kMaxConfig = uintmax_t{64} << 20;
constexpr size_t kMaxWeightFiles = 1000;  // of one folder

enum class Content { Json, Gguf, Safetensors };

uint64_t little_endian(const std::array<char, 16>& bytes) {
  uint64_t value = 0;
  for (size_t i = 8; i-- > 0;) {
    value = value << 8 | static_cast<unsigned char>(bytes[i]);
  }
  return value;
}

Content content_of(const fs::path& path, uintmax_t size) {
  std::ifstream in(path, std::ios::binary);
  std::array<char, 16> head{};
  in.read(head.data(), static_cast<std::streamsize>(head.size()));
  const auto n = static_cast<size_t>(in.gcount());
  if (n == 0) {
    throw Error(Code::File, path.string(), ": cannot be read");
  }
  const std::string_view text(head.data(), n);
  if (text.starts_with("GGUF") || text.starts_with("FUGG")) {
    return Content::Gguf;
  }
  // Eight bytes of header length, then the header's '{'. As text, the first eight bytes of a config
  // would be a length beyond any file.
  if (n > 8 && head[8] == '{' && (little_endian(head) < size || head[7] == 0)) {
    return Content::Safetensors;
  }
  const size_t first = text.find_first_not_of(" \t\r\n");
  const bool marked = text.starts_with("\xef\xbb\xbf");  // a byte order mark
  if (first != std::string_view::npos && text[first] != '{' && text[first] != '[' && !marked) {
    throw Error(Code::Format, path.string(),
                ": neither a JSON config nor a safetensors or GGUF file");
  }
  return Content::Json;
}

ResolvedModel resolve_file(const fs::path& path) {
  const uintmax_t size = fs::file_size(path);
  if (size == 0) {
    throw Error(Code::Format, path.string(), ": the file is empty");
  }
  switch (content_of(path, size)) {
    case Content::Gguf:
      return read_gguf(path);
    case Content::Safetensors:
      return read_safetensors_header(path);
    case Content::Json:
      break;
  }
  if (size > kMaxConfig) {
    throw Error(Code::Format, path.string(), ": ", size, " bytes; a config of more than ",
                kMaxConfig, " bytes is not read");
  }
  return resolve_config(read_file(path), path.string());
}

std::vector<fs::path> files_with(const fs::path& folder, const char* extension) {
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(folder)) {
    std::error_code ignored;
    if (entry.path().extension() == extension && entry.is_regular_file(ignored) &&
        found.size() < kMaxWeightFiles) {
      found.push_back(entry.path());
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

// "m-00001-of-00003.gguf" and so on, in order and all there: a model that llama-gguf-split cut.
bool are_parts(const std::vector<fs::path>& sorted) {
  if (sorted.size() < 2) {
    return false;
  }
  const auto five = [](size_t n) {
    const std::string digits = std::to_string(n);
    return std::string(5 - std::min<size_t>(5, digits.size()), '0') + digits;
  };
  const std::string first = sorted[0].stem().string();
  const std::string end = "-of-" + five(sorted.size());
  const std::string start = first.substr(0, first.size() - std::min(first.size(), end.size() + 5));
  for (size_t i = 0; i < sorted.size(); ++i) {
    if (sorted[i].stem().string() != start + five(i + 1) + end) {
      return false;
    }
  }
  return true;
}

// Tables of positions that lie among the weights. A file that cannot be read (a Git LFS pointer)
// leaves the config's answer as it is, and is listed.
void add_tables(const fs::path& folder, ResolvedModel& model) {
  check_index(folder, model);
  for (const fs::path& file : files_with(folder, ".safetensors")) {
    try {
      ResolvedModel part = read_safetensors_header(file);
      check_key_heads(file, model);
      std::move(part.tables.begin(), part.tables.end(), std::back_inserter(model.tables));
      model.dtype = model.dtype.empty() ? part.dtype : model.dtype;
    } catch (const Error& fault) {
      model.ignored.push_back({file.filename().string(), "", str("not read: ", fault.what())});
    }
  }
}

}  // namespace

ResolvedModel read_folder(const fs::path& folder) {
  const fs::path config = folder / "config.json";
  if (fs::is_regular_file(config)) {
    ResolvedModel model = resolve_file(config);
    add_tables(folder, model);
    model.path = folder.string();
    model.source = SourceKind::Folder;
    return model;
  }
  const auto gguf = files_with(folder, ".gguf");
  if (are_parts(gguf)) {
    return read_gguf_parts(gguf);
  }
  if (gguf.size() > 1) {
    throw Error(Code::Format, folder.string(), ": ", gguf.size(),
                " GGUF files and no config.json; name one of them, e.g. ", gguf[0].string());
  }
  if (gguf.size() == 1) {
    return resolve_file(gguf[0]);
  }
  const auto weights = files_with(folder, ".safetensors");
  if (!weights.empty()) {
    ResolvedModel model = read_shards(folder, weights);
    model.path = folder.string();
    model.source = SourceKind::Folder;
    return model;
  }
  if (fs::exists(fs::symlink_status(config))) {
    throw Error(Code::File, config.string(), ": not a regular file (a pipe, device or dead link)");
  }
  throw Error(Code::Format, folder.string(),
              ": no config.json, manifest.json, .gguf or .safetensors file in this folder");
}

ResolvedModel resolve(const fs::path& path) {
  if (path.filename().string().ends_with(".safetensors.index.json") && fs::is_regular_file(path)) {
    return resolve(path.has_parent_path() ? path.parent_path() : fs::path("."));
  }
  std::error_code fault;
  const fs::file_status status = fs::status(path, fault);
  if (!fs::exists(status)) {
    throw Error(
        Code::File, path.string(), ": ",
        status.type() == fs::file_type::not_found ? "no such file or folder" : fault.message());
  }
  try {
    if (fs::is_directory(status)) {
      return fs::is_regular_file(path / "manifest.json") ? read_run(path) : read_folder(path);
    }
    if (!fs::is_regular_file(status)) {
      throw Error(Code::File, path.string(), ": neither a regular file nor a folder");
    }
    return resolve_file(path);
  } catch (const fs::filesystem_error& error) {
    throw Error(Code::File, path.string(), ": ", error.code().message());
  }
}

}  // namespace gyre::inspect

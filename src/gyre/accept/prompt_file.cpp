// prompts/<sid>.txt.gz, gzip, so that zcat and zless show them.
#include <zlib.h>

#include "gyre/accept/record.h"
#include "gyre/base/error.h"
#include "gyre/base/files.h"

namespace gyre::accept {
namespace {

namespace fs = std::filesystem;

constexpr int kGzip = 16 + MAX_WBITS;

fs::path path_of(const fs::path& dir, const std::string& sid) {
  return dir / "prompts" / (sid + ".txt.gz");
}

std::string packed(const std::string& text) {
  z_stream z{};
  constexpr int kMemory = 8;  // zlib's default
  if (deflateInit2(&z, Z_BEST_SPEED, Z_DEFLATED, kGzip, kMemory, Z_DEFAULT_STRATEGY) != Z_OK) {
    throw Error(Code::Internal, "zlib does not start");
  }
  std::string out(deflateBound(&z, text.size()), '\0');
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  z.avail_in = static_cast<uInt>(text.size());
  z.next_out = reinterpret_cast<Bytef*>(out.data());
  z.avail_out = static_cast<uInt>(out.size());
  const int status = deflate(&z, Z_FINISH);
  out.resize(z.total_out);
  deflateEnd(&z);
  if (status != Z_STREAM_END) {
    throw Error(Code::Internal, "zlib packs no prompt of ", text.size(), " bytes");
  }
  return out;
}

std::string unpacked(const std::string& bytes, const fs::path& path) {
  z_stream z{};
  if (inflateInit2(&z, kGzip) != Z_OK) {
    throw Error(Code::Internal, "zlib does not start");
  }
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  z.avail_in = static_cast<uInt>(bytes.size());
  std::string out, piece(1 << 16, '\0');
  int status = Z_OK;
  while (status == Z_OK) {
    z.next_out = reinterpret_cast<Bytef*>(piece.data());
    z.avail_out = static_cast<uInt>(piece.size());
    status = inflate(&z, Z_NO_FLUSH);
    out.append(piece, 0, piece.size() - z.avail_out);
  }
  inflateEnd(&z);
  if (status != Z_STREAM_END) {
    throw Error(Code::Format, path.string(), ": not a whole gzip file");
  }
  return out;
}

}  // namespace

void write_prompt(const fs::path& dir, const std::string& sid, const std::string& text) {
  write_file_atomic(path_of(dir, sid), packed(text));
}

std::string read_prompt(const fs::path& dir, const std::string& sid) {
  const fs::path path = path_of(dir, sid);
  return unpacked(read_file(path), path);
}

}  // namespace gyre::accept

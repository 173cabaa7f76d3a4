#include "gyre/data/decompress.h"

#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "gyre/base/error.h"

namespace gyre::data {
namespace {

constexpr size_t kChunk = size_t{1} << 18U;

std::string gunzip(std::string_view bytes, const std::string& path) {
  z_stream stream{};
  if (inflateInit2(&stream, 15 + 16) != Z_OK) {  // 16: gzip only
    throw Error(Code::Internal, "zlib: cannot start");
  }
  const std::unique_ptr<z_stream, int (*)(z_stream*)> guard(&stream, inflateEnd);
  std::string out;
  std::vector<char> chunk(kChunk);
  size_t taken = 0;
  bool ended = false;
  while (!ended || taken < bytes.size()) {
    if (ended) {
      inflateReset(&stream);
    }
    const size_t offered = std::min(bytes.size() - taken, kChunk);
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data() + taken));
    stream.avail_in = static_cast<uInt>(offered);
    stream.next_out = reinterpret_cast<Bytef*>(chunk.data());
    stream.avail_out = static_cast<uInt>(kChunk);
    const int status = inflate(&stream, Z_NO_FLUSH);
    taken += offered - stream.avail_in;
    out.append(chunk.data(), kChunk - stream.avail_out);
    ended = status == Z_STREAM_END;
    if (status == Z_BUF_ERROR ||
        (status == Z_OK && taken == bytes.size() && stream.avail_out > 0)) {
      throw Error(Code::Format, path, ": gzip data ends too soon; the file is cut short");
    }
    if (status != Z_OK && !ended) {
      throw Error(Code::Format, path,
                  ": not valid gzip: ", stream.msg == nullptr ? "damaged" : stream.msg);
    }
  }
  return out;
}

std::string unzstd(std::string_view bytes, const std::string& path) {
  const std::unique_ptr<ZSTD_DCtx, size_t (*)(ZSTD_DCtx*)> context(ZSTD_createDCtx(),
                                                                   ZSTD_freeDCtx);
  std::string out;
  std::vector<char> chunk(kChunk);
  ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
  size_t wanted = 1;  // 0 once a frame is complete and flushed
  for (;;) {
    ZSTD_outBuffer block{chunk.data(), chunk.size(), 0};
    wanted = ZSTD_decompressStream(context.get(), &block, &in);
    if (ZSTD_isError(wanted) != 0) {
      throw Error(Code::Format, path, ": not valid zstd: ", ZSTD_getErrorName(wanted));
    }
    out.append(chunk.data(), block.pos);
    if (in.pos == in.size && (wanted == 0 || block.pos < block.size)) {
      break;
    }
  }
  if (wanted != 0) {
    throw Error(Code::Format, path, ": zstd data ends too soon; the file is cut short");
  }
  return out;
}

}  // namespace

std::string decompress(Compression kind, std::string_view bytes,
                       const std::filesystem::path& path) {
  switch (kind) {
    case Compression::Gzip:
      return gunzip(bytes, path.string());
    case Compression::Zstd:
      return unzstd(bytes, path.string());
    case Compression::None:
      break;
  }
  return std::string(bytes);
}

}  // namespace gyre::data

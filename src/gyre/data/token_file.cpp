#include "gyre/data/token_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <vector>

#include "gyre/base/error.h"

namespace gyre::data {
namespace {

template <class T>
T load(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof(T));
  return value;
}

TokenFileInfo headed(const MappedFile& file, int32_t magic) {
  const std::byte* head = file.bytes().data();
  const auto version = load<int32_t>(head + 4);
  const bool wide =
      (magic == kMagic && version == kVersion32) || (magic == kMagicLlama && version == 7);
  if (!wide && !(magic == kMagic && version == 1)) {
    throw Error(Code::Format, file.path().string(), ": token shard of version ", version,
                "; known: ", kMagic, " version 1 (uint16) and 2 (uint32), ", kMagicLlama,
                " version 7 (uint32)");
  }
  const int64_t count = static_cast<int64_t>(load<uint32_t>(head + 8)) |
                        (static_cast<int64_t>(load<uint32_t>(head + 12)) << 32);
  const size_t width = wide ? 4 : 2;
  const size_t body = file.bytes().size() - kHeaderBytes;
  if (count < 0 || body % width != 0 || static_cast<uint64_t>(count) != body / width) {
    throw Error(Code::Format, file.path().string(), ": header says ", count,
                " tokens, the file has room for ", body / width, "; truncated or damaged");
  }
  return {kHeaderBytes, width, count};
}

}  // namespace

TokenFileInfo inspect_token_file(const MappedFile& file) {
  const size_t size = file.bytes().size();
  if (size == 0) {
    throw Error(Code::Format, file.path().string(), ": empty file");
  }
  const int32_t magic = size >= kHeaderBytes ? load<int32_t>(file.bytes().data()) : 0;
  if (magic == kMagic || magic == kMagicLlama) {
    return headed(file, magic);
  }
  if (size % 2 != 0) {
    throw Error(Code::Format, file.path().string(), ": ", size,
                " bytes are neither uint16 tokens (odd size) nor a shard with llm.c's header");
  }
  return {0, 2, static_cast<int64_t>(size / 2)};
}

int64_t token_at(const MappedFile& file, const TokenFileInfo& info, int64_t i) {
  const std::byte* at =
      file.bytes().data() + info.header_bytes + static_cast<size_t>(i) * info.token_bytes;
  return info.token_bytes == 2 ? load<uint16_t>(at) : load<uint32_t>(at);
}

TokenWriter::TokenWriter(std::filesystem::path path, bool wide)
    : path_(std::move(path)), out_(path_, std::ios::binary | std::ios::trunc), wide_(wide) {
  const std::array<char, kHeaderBytes> blank{};
  write(blank.data(), blank.size());
}

void TokenWriter::append(std::span<const int32_t> tokens) {
  if (wide_) {
    write(tokens.data(), tokens.size_bytes());
  } else {
    std::vector<uint16_t> narrow(tokens.size());
    for (size_t i = 0; i < tokens.size(); ++i) {
      narrow[i] = static_cast<uint16_t>(tokens[i]);
    }
    write(narrow.data(), narrow.size() * sizeof(uint16_t));
  }
  n_tokens_ += static_cast<int64_t>(tokens.size());
}

void TokenWriter::finish() {
  const auto count = static_cast<uint64_t>(n_tokens_);
  const std::array<uint32_t, 4> head = {
      static_cast<uint32_t>(kMagic), wide_ ? static_cast<uint32_t>(kVersion32) : 1U,
      static_cast<uint32_t>(count), static_cast<uint32_t>(count >> 32U)};
  out_.seekp(0);
  write(head.data(), sizeof(head));
  out_.close();
  const int fd = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC);
  const bool synced = fd >= 0 && ::fsync(fd) == 0;
  if (fd >= 0) {
    ::close(fd);
  }
  if (!out_ || !synced) {
    throw Error(Code::File, path_.string(), ": cannot write: ", std::strerror(errno));
  }
}

void TokenWriter::write(const void* bytes, size_t n) {
  out_.write(static_cast<const char*>(bytes), static_cast<std::streamsize>(n));
  if (!out_) {
    throw Error(Code::File, path_.string(), ": cannot write: ", std::strerror(errno));
  }
}

}  // namespace gyre::data

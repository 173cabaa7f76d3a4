#include "gyre/base/files.h"

#include <fcntl.h>
#include <openssl/evp.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>

#include "gyre/base/error.h"

namespace gyre {
namespace fs = std::filesystem;
namespace {

[[noreturn]] void fail(const fs::path& path, std::string_view action) {
  throw Error(Code::File, path.string(), ": cannot ", action, ": ", std::strerror(errno));
}

class Descriptor {
 public:
  Descriptor(const fs::path& path, int flags, mode_t mode = 0644)
      : fd_(::open(path.c_str(), flags | O_CLOEXEC, mode)) {}
  ~Descriptor() {
    if (fd_ >= 0) {
      ::close(fd_);
    }
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }

 private:
  int fd_;
};

size_t regular_size(int fd, const fs::path& path) {
  struct stat info {};
  if (::fstat(fd, &info) != 0) {
    fail(path, "stat");
  }
  if (!S_ISREG(info.st_mode)) {
    throw Error(Code::File, path.string(), ": not a regular file");
  }
  return static_cast<size_t>(info.st_size);
}

void write_all(int fd, std::string_view bytes, const fs::path& path) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno != EINTR) {
      fail(path, "write");
    }
    bytes.remove_prefix(n > 0 ? static_cast<size_t>(n) : 0);
  }
}

std::string hex(std::span<const unsigned char> bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string out;
  for (const unsigned char byte : bytes) {
    out += kDigits[byte >> 4U];
    out += kDigits[byte & 15U];
  }
  return out;
}

// A process that was killed while it wrote leaves a last line without an end.
void drop_torn_line(const fs::path& path) {
  std::error_code none;
  if (!fs::is_regular_file(path, none)) {
    return;
  }
  const std::string text = read_file(path);
  const size_t end = text.rfind('\n') + 1;  // npos + 1 = 0: no whole line at all
  if (end < text.size()) {
    fs::resize_file(path, end, none);
  }
}

}  // namespace

std::string read_file(const fs::path& path) {
  const Descriptor file(path, O_RDONLY | O_NONBLOCK);
  if (file.get() < 0) {
    fail(path, "open");
  }
  // Files under /proc say they are empty, and others may grow: read on until there is no more.
  std::string bytes(regular_size(file.get(), path) + 1, '\0');
  size_t used = 0;
  while (true) {
    const ssize_t n = ::read(file.get(), bytes.data() + used, bytes.size() - used);
    if (n == 0) {
      break;
    }
    if (n < 0 && errno != EINTR) {
      fail(path, "read");
    }
    used += n > 0 ? static_cast<size_t>(n) : 0;
    if (used == bytes.size()) {
      bytes.resize(2 * used + 4096);
    }
  }
  bytes.resize(used);
  return bytes;
}

namespace {

// A device, a pipe or the like is written to as it stands; a name cannot be put in its place.
bool written_in_place(const fs::path& path, std::string_view bytes) {
  std::error_code ignored;
  const fs::file_status status = fs::status(path, ignored);
  if (!fs::exists(status) || fs::is_regular_file(status) || fs::is_directory(status)) {
    return false;
  }
  const Descriptor file(path, O_WRONLY);
  if (file.get() < 0) {
    fail(path, "open for writing");
  }
  write_all(file.get(), bytes, path);
  return true;
}

}  // namespace

void write_file_atomic(const fs::path& name, std::string_view bytes) {
  if (written_in_place(name, bytes)) {
    return;
  }
  // What a link points to is replaced, not the link.
  std::error_code ignored;
  const fs::path path = fs::is_symlink(name, ignored) ? fs::weakly_canonical(name) : name;
  static std::atomic<uint64_t> count{0};
  const fs::path temporary = str(path.string(), ".tmp", ::getpid(), "-", ++count);
  const Descriptor file(temporary, O_WRONLY | O_CREAT | O_TRUNC);
  if (file.get() < 0) {
    fail(path, "create");
  }
  try {
    write_all(file.get(), bytes, path);
    if (::fsync(file.get()) != 0) {
      fail(path, "sync");
    }
    if (::rename(temporary.c_str(), path.c_str()) != 0) {
      fail(path, "replace");
    }
  } catch (...) {
    ::unlink(temporary.c_str());
    throw;
  }
  // The new name is on disk once its folder is; not every file system can sync a folder.
  const Descriptor folder(path.has_parent_path() ? path.parent_path() : ".",
                          O_RDONLY | O_DIRECTORY);
  if (folder.get() >= 0) {
    ::fsync(folder.get());
  }
}

MappedFile::MappedFile(const fs::path& path) : path_(path) {
  const Descriptor file(path, O_RDONLY | O_NONBLOCK);
  if (file.get() < 0) {
    fail(path, "open");
  }
  size_ = regular_size(file.get(), path);
  if (size_ == 0) {
    return;
  }
  void* map = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (map == MAP_FAILED) {
    fail(path, "map");
  }
  data_ = static_cast<const std::byte*>(map);
}

MappedFile::~MappedFile() {
  if (data_ != nullptr) {
    ::munmap(const_cast<std::byte*>(data_), size_);
  }
}

void MappedFile::let_go(std::span<const std::byte> part) const {
  const auto page = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto begin = reinterpret_cast<uintptr_t>(part.data());
  const uintptr_t first = (begin + page - 1) / page * page,
                  last = (begin + part.size()) / page * page;
  if (first < last) {  // whole pages only: others hold bytes of a neighbour
    ::madvise(reinterpret_cast<void*>(first), last - first, MADV_DONTNEED);
  }
}

MappedFile::MappedFile(MappedFile&& other) noexcept
    : path_(std::move(other.path_)),
      data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)) {}

MappedFile& MappedFile::operator=(MappedFile&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(data_, other.data_);
  std::swap(size_, other.size_);
  return *this;
}

LineWriter::LineWriter(const fs::path& path, bool append) : path_(path) {
  if (append) {
    drop_torn_line(path);
  }
  out_.open(path, append ? std::ios::app : std::ios::trunc);
  if (!out_) {
    fail(path, "open for writing");
  }
}

void LineWriter::write(std::string_view line) {
  out_ << line << '\n' << std::flush;
  if (!out_) {
    fail(path_, "append");
  }
}

std::string sha256(std::span<const std::byte> bytes) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int length = 0;
  if (EVP_Digest(bytes.data(), bytes.size(), digest.data(), &length, EVP_sha256(), nullptr) != 1) {
    throw Error(Code::Internal, "sha256 failed");
  }
  return hex({digest.data(), length});
}

std::string sha256(std::string_view text) {
  return sha256(std::as_bytes(std::span(text)));
}

std::string sha256_file(const fs::path& path) {
  return sha256(MappedFile(path).bytes());
}

fs::path cache_dir() {
  const auto env = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string(value == nullptr ? "" : value);
  };
  if (const std::string own = env("GYRE_CACHE"); !own.empty()) {
    return own;
  }
  if (const std::string xdg = env("XDG_CACHE_HOME"); !xdg.empty()) {
    return fs::path(xdg) / "gyre";
  }
  const std::string home = env("HOME");
  return fs::path(home.empty() ? "." : home) / ".cache" / "gyre";
}

}  // namespace gyre

// A folder that becomes visible whole or not at all: filled under a hidden name beside its goal,
// then renamed; removed when an exception passes.
#pragma once

#include <filesystem>

namespace gyre::data {

class TemporaryFolder {
 public:
  /// Creates `goal`'s parent and an empty hidden folder in it.
  explicit TemporaryFolder(std::filesystem::path goal);
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }
  /// Renames to the goal. When a goal is already there it is moved aside and removed if `replace`;
  /// otherwise it stays (another process was first) and this folder goes. Returns whether it moved.
  bool publish(bool replace);

 private:
  std::filesystem::path goal_, path_;
};

}  // namespace gyre::data

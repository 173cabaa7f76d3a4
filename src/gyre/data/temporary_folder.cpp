#include "gyre/data/temporary_folder.h"

#include <cstdlib>
#include <cstring>

#include "gyre/base/error.h"
#include "gyre/base/log.h"

namespace gyre::data {
namespace fs = std::filesystem;
namespace {

constexpr auto kStaleAfter = std::chrono::hours(24);

/// Leftovers of killed processes: hidden siblings of the same goal that are a day old.
void remove_stale(const fs::path& goal) {
  const std::string prefix = "." + goal.filename().string() + ".";
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(goal.parent_path(), ignored)) {
    const bool ours = entry.path().filename().string().starts_with(prefix);
    const auto written = fs::last_write_time(entry.path(), ignored);
    if (ours && !ignored && fs::file_time_type::clock::now() - written > kStaleAfter) {
      fs::remove_all(entry.path(), ignored);
    }
  }
}

fs::path hidden_sibling(const fs::path& goal) {
  const fs::path parent = goal.parent_path();
  std::string pattern = (parent / ("." + goal.filename().string() + ".XXXXXX")).string();
  if (::mkdtemp(pattern.data()) == nullptr) {
    throw Error(Code::File, parent.string(), ": cannot create a folder: ", std::strerror(errno));
  }
  return pattern;
}

}  // namespace

TemporaryFolder::TemporaryFolder(fs::path goal) : goal_(fs::absolute(goal).lexically_normal()) {
  if (!goal_.has_filename()) {
    goal_ = goal_.parent_path();
  }
  std::error_code error;
  fs::create_directories(goal_.parent_path(), error);
  if (error) {
    throw Error(Code::File, goal_.parent_path().string(), ": cannot create: ", error.message());
  }
  remove_stale(goal_);
  path_ = hidden_sibling(goal_);
  fs::permissions(path_,
                  fs::perms::group_read | fs::perms::group_exec | fs::perms::others_read |
                      fs::perms::others_exec,
                  fs::perm_options::add, error);
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  if (!path_.empty()) {
    fs::remove_all(path_, ignored);
  }
}

bool TemporaryFolder::publish(bool replace) {
  if (replace && fs::exists(goal_)) {
    const fs::path aside = hidden_sibling(goal_);
    std::error_code ignored;
    fs::rename(goal_, aside, ignored);
    fs::remove_all(aside, ignored);
  }
  std::error_code error;
  fs::rename(path_, goal_, error);
  if (!error) {
    path_.clear();
    return true;
  }
  if (fs::exists(goal_)) {
    return false;
  }
  throw Error(Code::File, goal_.string(), ": cannot create: ", error.message());
}

}  // namespace gyre::data

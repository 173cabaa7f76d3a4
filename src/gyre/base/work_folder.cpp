#include "gyre/base/work_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>

#include "gyre/base/error.h"
#include "gyre/base/files.h"
#include "gyre/base/json_words.h"

namespace gyre {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr const char* kLock = ".lock";

void refuse_other_files(const fs::path& dir, const WorkKind& kind) {
  for (const fs::directory_entry& entry : fs::directory_iterator(dir)) {
    const std::string name = entry.path().filename().string();
    const bool own = name.starts_with(kind.record) || name == kLock ||  // or on its way there
                     std::find(kind.own.begin(), kind.own.end(), name) != kind.own.end();
    if (!own) {
      throw Error(Code::Usage, dir.string(), " holds other files (", name,
                  "); give an empty or new folder as --out, or --force to add to this one");
    }
  }
}

void refuse_lone_parts(const fs::path& dir, const WorkKind& kind) {
  for (const std::string& part : kind.parts) {
    if (fs::exists(dir / part)) {
      throw Error(Code::Usage, dir.string(), " holds ", part, " of ", kind.noun, ", and ",
                  kind.record, ", which says of what, is gone; put it back, use another --out, or ",
                  "--force to start over");
    }
  }
}

std::string shown(const WorkSettings& settings, const std::string& name) {
  const auto found = settings.find(name);
  return found == settings.end() ? "not given" : found->second;
}

void check_same(const fs::path& file, const WorkKind& kind, const WorkSettings& now) {
  const Json json = Json::parse(read_file(file), nullptr, false);
  if (!json.is_object() || !json.contains("settings")) {
    throw Error(Code::Format, file.string(), ": not the record of ", kind.noun,
                "; --force starts over");
  }
  WorkSettings before;
  try {
    json.at("settings").get_to(before);
  } catch (const Json::exception& fault) {
    throw Error(Code::Format, file.string(), ": not the record of ", kind.noun, ": ",
                json_words(fault), "; --force starts over");
  }
  WorkSettings all = before;
  all.insert(now.begin(), now.end());
  for (const auto& [name, value] : all) {
    if (shown(before, name) != shown(now, name)) {
      throw Error(Code::Usage, file.parent_path().string(), " holds ", kind.noun, " with --", name,
                  " ", shown(before, name), ", this one has ", shown(now, name),
                  "; use another --out, or --force to start over");
    }
  }
}

}  // namespace

WorkFolder::WorkFolder(fs::path dir, const WorkKind& kind, const WorkSettings& settings, bool force)
    : dir_(std::move(dir)) {
  std::error_code fault;
  fs::create_directories(dir_, fault);
  if (fault || !fs::is_directory(dir_)) {
    throw Error(Code::File, "cannot make the folder ", dir_.string(), ": ",
                fault ? fault.message() : "a file is in the way");
  }
  const bool known = fs::exists(dir_ / kind.record);
  if (!known && !force) {
    refuse_other_files(dir_, kind);
    refuse_lone_parts(dir_, kind);
  }
  lock_ = ::open((dir_ / kLock).c_str(), O_RDWR | O_CREAT, 0644);  // no O_CLOEXEC: see lock_
  if (lock_ < 0) {
    throw Error(Code::File, "cannot write to ", dir_.string(), ": ", std::strerror(errno));
  }
  if (::flock(lock_, LOCK_EX | LOCK_NB) != 0) {
    ::close(lock_);
    throw Error(Code::Usage, dir_.string(), " is in use by another ", kind.users,
                "; wait for it or use another --out");
  }
  try {
    settle(kind, settings, known, force);
  } catch (...) {
    ::close(lock_);
    throw;
  }
}

void WorkFolder::settle(const WorkKind& kind, const WorkSettings& settings, bool known,
                        bool force) const {
  if (force) {
    for (const std::string& own : kind.own) {
      fs::remove_all(dir_ / own);
    }
  } else if (known) {
    check_same(dir_ / kind.record, kind, settings);
  }
  const Json record{{"schema", kind.schema}, {"settings", settings}};
  write_file_atomic(dir_ / kind.record, record.dump(1) + "\n");
}

WorkFolder::~WorkFolder() {
  ::close(lock_);
}

}  // namespace gyre

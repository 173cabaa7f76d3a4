#include "gyre/study/folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>

#include "gyre/base/error.h"
#include "gyre/base/files.h"

namespace gyre::study {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr const char* kSettings = "study.json";
constexpr const char* kLock = ".lock";
constexpr const char* kOwn[] = {kSettings, kLock,          "cells",
                                "figures", "compare.json", "report.html"};

bool is_own(const std::string& name) {
  return std::any_of(std::begin(kOwn), std::end(kOwn),
                     [&](const char* own) { return name == own; });
}

void refuse_other_files(const fs::path& dir) {
  for (const fs::directory_entry& entry : fs::directory_iterator(dir)) {
    if (const std::string name = entry.path().filename().string(); !is_own(name)) {
      throw Error(Code::Usage, dir.string(), " holds other files (", name,
                  "); give an empty or new folder as --out, or --force to add to this one");
    }
  }
}

std::string shown(const SharedSettings& settings, const std::string& name) {
  const auto found = settings.find(name);
  return found == settings.end() ? "not given" : found->second;
}

void check_same(const fs::path& dir, const SharedSettings& now) {
  const Json json = Json::parse(read_file(dir / kSettings), nullptr, false);
  if (!json.is_object() || !json.contains("settings")) {
    throw Error(Code::Format, (dir / kSettings).string(),
                ": not the record of a comparison; --force starts over");
  }
  const auto before = json.at("settings").get<SharedSettings>();
  SharedSettings all = before;
  all.insert(now.begin(), now.end());
  for (const auto& [name, value] : all) {
    if (shown(before, name) != shown(now, name)) {
      throw Error(Code::Usage, dir.string(), " holds a comparison with --", name, " ",
                  shown(before, name), ", this one has ", shown(now, name),
                  "; use another --out, or --force to start over");
    }
  }
}

}  // namespace

StudyFolder::StudyFolder(fs::path dir, const SharedSettings& settings, bool force)
    : dir_(std::move(dir)) {
  std::error_code fault;
  fs::create_directories(dir_, fault);
  if (fault || !fs::is_directory(dir_)) {
    throw Error(Code::File, "cannot make the folder ", dir_.string(), ": ",
                fault ? fault.message() : "a file is in the way");
  }
  const bool known = fs::exists(dir_ / kSettings);
  if (!known && !force) {
    refuse_other_files(dir_);
  }
  lock_ = ::open((dir_ / kLock).c_str(), O_RDWR | O_CREAT, 0644);  // no O_CLOEXEC: see lock_
  if (lock_ < 0) {
    throw Error(Code::File, "cannot write to ", dir_.string(), ": ", std::strerror(errno));
  }
  if (::flock(lock_, LOCK_EX | LOCK_NB) != 0) {
    ::close(lock_);
    throw Error(Code::Usage, dir_.string(),
                " is in use by another gyre compare or one of its cells; ",
                "wait for it or use another --out");
  }
  try {
    if (force) {
      for (const char* own : kOwn) {
        if (own != std::string(kLock)) {
          fs::remove_all(dir_ / own);
        }
      }
    } else if (known) {
      check_same(dir_, settings);
    }
    const Json record{{"schema", "gyre.study/1"}, {"settings", settings}};
    write_file_atomic(dir_ / kSettings, record.dump(1) + "\n");
  } catch (...) {
    ::close(lock_);
    throw;
  }
}

StudyFolder::~StudyFolder() {
  ::close(lock_);
}

}  // namespace gyre::study

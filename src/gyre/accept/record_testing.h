// Samples and folders for tests of the record and of what is made from it.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <string>

#include "gyre/accept/item.h"

namespace gyre::accept::testing {

/// A folder of its own, removed at the end.
class TempFolder {
 public:
  TempFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "gyre-accept-XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  ~TempFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  std::filesystem::path operator/(const char* name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

/// A level 2 item with its answer; `index` tells one from another.
inline Sample a_sample(int64_t index, Verdict verdict = Verdict::Ok) {
  Sample s;
  s.item.level = 2;
  s.item.task = "needle";
  s.item.length = 4096;
  s.item.index = index;
  s.item.dials = {{"k", "7"}, {"s", "2"}};
  s.item.ask.messages = {{"system", "Answer."}, {"user", "Filler " + std::to_string(index) + "."}};
  s.item.gold = {"KX7-3QD"};
  s.item.distractors = {{"AAA-BBB", 2, 0.25}};
  s.item.evidence = {{0.5, 2048, 2040}};
  s.item.sentences = {"In the log of Oslo, the kettle carries code KX7-3QD."};
  s.item.tokens_predicted = 4090;
  s.item.sid = identity(s.item, "test");
  s.reply.http = 200;
  s.reply.text = "KX7-3QD";
  s.reply.finish = "stop";
  s.reply.prompt_tokens = 4088;
  s.verdict = verdict;
  s.found = "KX7-3QD";
  return s;
}

}  // namespace gyre::accept::testing

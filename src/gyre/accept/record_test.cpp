// The record: what is written is read back; a killed run goes on; nothing counts twice.
#include "gyre/accept/record.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <thread>

#include "gyre/accept/record_testing.h"
#include "gyre/base/error.h"
#include "gyre/base/files.h"

namespace gyre::accept {
namespace {

using testing::a_sample;
using testing::TempFolder;
using Settings = std::map<std::string, std::string>;

const Settings kSettings{{"lengths", "[1024,4096]"}, {"seed", "1"}};

std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Record, KeepsSamplesOverProcesses) {
  const TempFolder temp;
  {
    Record record(temp / "run", kSettings, false);
    record.add(a_sample(1), true);
    record.add(a_sample(2, Verdict::WrongCode), true);
  }
  const Record again(temp / "run", kSettings, false);
  ASSERT_EQ(again.samples().size(), 2u);
  EXPECT_TRUE(again.find(a_sample(1).item.sid)->ok());
  EXPECT_EQ(again.find(a_sample(2).item.sid)->verdict, Verdict::WrongCode);
  EXPECT_FALSE(again.find(a_sample(3).item.sid));
}

TEST(Record, AnAttemptThatIsNotFinalIsCountedAndNotFound) {
  const TempFolder temp;
  {
    Record record(temp / "run", kSettings, false);
    record.add(a_sample(1, Verdict::Error), false);
    record.add(a_sample(1, Verdict::Error), false);
  }
  Record record(temp / "run", kSettings, false);
  EXPECT_EQ(record.attempts(a_sample(1).item.sid), 2);
  EXPECT_FALSE(record.find(a_sample(1).item.sid));
  EXPECT_TRUE(record.samples().empty());
  record.add(a_sample(1), true);
  EXPECT_TRUE(record.find(a_sample(1).item.sid)->ok());
}

TEST(Record, ALateAnswerDoesNotCount) {
  const TempFolder temp;
  {
    Record record(temp / "run", kSettings, false);
    record.add(a_sample(1, Verdict::Partial), true);
    record.add(a_sample(1), true);
  }
  const Record record(temp / "run", kSettings, false);
  EXPECT_EQ(record.find(a_sample(1).item.sid)->verdict, Verdict::Partial);
  EXPECT_EQ(record.samples().size(), 1u);
}

TEST(Record, ATornLastLineIsDroppedAndTheNextOneIsWhole) {
  const TempFolder temp;
  { Record(temp / "run", kSettings, false).add(a_sample(1), true); }
  {
    std::ofstream torn(temp / "run" / "samples.jsonl", std::ios::app);
    torn << R"({"schema":"gyre.accept_sample/1","sid":"0123456789abcdef","final":true)";
  }
  { Record(temp / "run", kSettings, false).add(a_sample(2), true); }
  const Record record(temp / "run", kSettings, false);
  EXPECT_EQ(record.samples().size(), 2u);
  EXPECT_EQ(record.attempts("0123456789abcdef"), 0);
}

TEST(Record, AKilledRunLosesTheLineInHandAtMost) {
  const TempFolder temp;
  const std::filesystem::path dir = temp / "run";
  const pid_t child = ::fork();
  if (child == 0) {
    Record record(dir, kSettings, false);
    for (int64_t i = 0;; ++i) {
      record.add(a_sample(i), true);
    }
  }
  const auto size = [&] {
    std::error_code none;
    const auto bytes = std::filesystem::file_size(dir / "samples.jsonl", none);
    return none ? 0 : bytes;
  };
  while (size() < 100000) {
    std::this_thread::yield();
  }
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  const Record record(dir, kSettings, false);
  const std::vector<Sample> samples = record.samples();
  EXPECT_GT(samples.size(), 50u);
  for (size_t i = 0; i < samples.size(); ++i) {
    EXPECT_EQ(samples[i].item.index, static_cast<int64_t>(i));
  }
}

TEST(Record, RefusesOtherSettingsByName) {
  const TempFolder temp;
  { Record(temp / "run", kSettings, false).add(a_sample(1), true); }
  Settings other = kSettings;
  other["seed"] = "2";
  const std::string dir = (temp / "run").string();
  EXPECT_EQ(message_of([&] { Record(dir, other, false); }),
            dir +
                " holds an acceptance run with --seed 1, this one has 2; use another --out, or "
                "--force to start over");
  const Record forced(dir, other, true);
  EXPECT_TRUE(forced.samples().empty());
}

TEST(Record, ForceRemovesOwnFilesAlone) {
  const TempFolder temp;
  { Record(temp / "run", kSettings, false).add(a_sample(1, Verdict::Empty), true); }
  write_file_atomic(temp / "run" / "notes.txt", "mine");
  const Record forced(temp / "run", kSettings, true);
  EXPECT_TRUE(std::filesystem::exists(temp / "run" / "notes.txt"));
  EXPECT_FALSE(
      std::filesystem::exists(temp / "run" / "prompts" / (a_sample(1).item.sid + ".txt.gz")));
}

TEST(Record, RefusesAFolderOfSomethingElseAndASecondRunAtWork) {
  const TempFolder temp;
  std::filesystem::create_directories(temp / "other");
  write_file_atomic(temp / "other" / "notes.txt", "mine");
  EXPECT_NE(message_of([&] {
              Record(temp / "other", kSettings, false);
            }).find("holds other files (notes.txt)"),
            std::string::npos);
  const Record record(temp / "run", kSettings, false);
  EXPECT_NE(message_of([&] {
              Record(temp / "run", kSettings, false);
            }).find("is in use by another gyre accept"),
            std::string::npos);
}

TEST(Record, SaysWhichLineIsNone) {
  const TempFolder temp;
  { Record(temp / "run", kSettings, false).add(a_sample(1), true); }
  {
    std::ofstream out(temp / "run" / "samples.jsonl", std::ios::app);
    out << "{}\n";
  }
  const std::string file = (temp / "run" / "samples.jsonl").string();
  EXPECT_EQ(message_of([&] { Record(temp / "run", kSettings, false); }),
            file +
                ":2: not a sample of gyre.accept_sample/1; mend the line or start over with "
                "--force");
}

TEST(Record, AnItemThatWasGivenUpIsKeptUntilItIsAnswered) {
  const TempFolder temp;
  {
    Record record(temp / "run", kSettings, false);
    record.add(a_sample(1, Verdict::Error), Ending::GivenUp);
  }
  EXPECT_TRUE(
      std::filesystem::exists(temp / "run" / "prompts" / (a_sample(1).item.sid + ".txt.gz")));
  {
    std::ofstream out(temp / "run" / "samples.jsonl", std::ios::app);
    out << "\n";  // as editors leave it
  }
  Record record(temp / "run", kSettings, false);
  EXPECT_FALSE(record.find(a_sample(1).item.sid));
  ASSERT_EQ(record.samples().size(), 1U);
  record.add(a_sample(1), Ending::Final);
  EXPECT_EQ(record.find(a_sample(1).item.sid)->verdict, Verdict::Ok);
  ASSERT_EQ(record.samples().size(), 1U);
  EXPECT_EQ(record.samples()[0].verdict, Verdict::Ok);
}

TEST(Record, SaysWhichLineIsDamagedInside) {
  const TempFolder temp;
  { Record(temp / "run", kSettings, false).add(a_sample(1), true); }
  const std::string file = (temp / "run" / "samples.jsonl").string();
  std::string text = read_file(file);
  const std::string word = "\"verdict\":";
  text.replace(text.find(word), word.size(), "\"verdikt\":");
  write_file_atomic(file, text);
  const Record record(temp / "run", kSettings, false);
  const std::string message = message_of([&] { (void)record.samples(); });
  EXPECT_TRUE(message.starts_with(file + ":1: not a sample of gyre.accept_sample/1: {")) << message;
  EXPECT_TRUE(
      message.ends_with("(key 'verdict' not found); mend the line or start over with "
                        "--force"))
      << message;
}

TEST(Record, RefusesLinesOfAnotherRun) {
  const TempFolder temp;
  { Record(temp / "run", kSettings, false); }
  write_file_atomic(temp / "run" / "samples.jsonl",
                    to_line(a_sample(1), "feed", Ending::Final) + "\n");
  EXPECT_NE(message_of([&] {
              Record(temp / "run", kSettings, false);
            }).find(":1: belongs to run feed, this folder holds run "),
            std::string::npos);
}

TEST(Record, PromptsOfFailuresAreKept) {
  const TempFolder temp;
  Record record(temp / "run", kSettings, false);
  record.add(a_sample(1), true);
  record.add(a_sample(2, Verdict::Error), false);
  record.add(a_sample(3, Verdict::Distractor), true);
  const Item failed = a_sample(3).item;
  EXPECT_EQ(read_prompt(temp / "run", failed.sid), prompt_text(failed.ask));
  const auto kept = std::filesystem::directory_iterator(temp / "run" / "prompts");
  EXPECT_EQ(std::distance(begin(kept), end(kept)), 1);
  EXPECT_EQ(record.find(failed.sid)->prompt_sha, sha256(prompt_text(failed.ask)));
}

TEST(Record, AMissingOrDamagedPromptIsSaid) {
  const TempFolder temp;
  std::filesystem::create_directories(temp / "prompts");
  EXPECT_NE(message_of([&] { read_prompt(temp / ".", "beef"); }).find("beef.txt.gz"),
            std::string::npos);
  write_prompt(temp / ".", "beef", std::string(200000, 'a'));
  EXPECT_EQ(read_prompt(temp / ".", "beef"), std::string(200000, 'a'));
  const auto file = temp / "prompts" / "beef.txt.gz";
  std::filesystem::resize_file(file, std::filesystem::file_size(file) / 2);
  EXPECT_NE(message_of([&] { read_prompt(temp / ".", "beef"); }).find("not a whole gzip file"),
            std::string::npos);
}

TEST(Record, SeveralThreadsMayAdd) {
  const TempFolder temp;
  Record record(temp / "run", kSettings, false);
  std::vector<std::thread> threads;
  for (int64_t t = 0; t < 8; ++t) {
    threads.emplace_back([&record, t] {
      for (int64_t i = 0; i < 50; ++i) {
        record.add(a_sample(t * 50 + i), true);
        (void)record.find(a_sample(i).item.sid);
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(record.samples().size(), 400u);
  for (int64_t i = 0; i < 400; ++i) {
    EXPECT_EQ(record.find(a_sample(i).item.sid)->item.index, i);
  }
}

TEST(Record, InMemoryKeepsTheSame) {
  Record record;
  record.add(a_sample(1, Verdict::Cut), true);
  EXPECT_EQ(record.find(a_sample(1).item.sid)->verdict, Verdict::Cut);
  EXPECT_EQ(record.samples().size(), 1u);
}

TEST(Record, ReadOnlyNeedsARunAndTakesNoLock) {
  const TempFolder temp;
  EXPECT_EQ(message_of([&] { Record::read_only("nowhere"); }),
            "nowhere holds no acceptance run; give the folder that gyre accept --out wrote");
  Record writer(temp / "run", kSettings, false);
  writer.add(a_sample(1), true);
  const auto reader = Record::read_only(temp / "run");
  EXPECT_EQ(reader->samples().size(), 1u);
  EXPECT_EQ(reader->settings(), kSettings);
  EXPECT_EQ(message_of([&] { reader->add(a_sample(2), true); }),
            (temp / "run").string() + " was opened for reading");
}

// 20,000 lines of 1.1 KB: an index alone is read, 0.02 s here; as JSON they would take 0.6 s.
TEST(Record, OpensManyLinesWithoutReadingThemAsJson) {
  const TempFolder temp;
  std::string run;
  { run = Record(temp / "run", kSettings, false).run(); }
  const std::string line = to_line(a_sample(1), run, Ending::Final);
  const std::string sid = a_sample(1).item.sid;
  std::string all;
  constexpr int kLines = 20000;
  for (int i = 0; i < kLines; ++i) {
    const std::string number = std::to_string(i);
    std::string copy = line;
    copy.replace(copy.find(sid), sid.size(), std::string(16 - number.size(), '0') + number);
    copy[copy.size() / 2] = copy[copy.size() / 2] == '\\' ? '\\' : '~';  // broken inside
    all += copy + "\n";
  }
  write_file_atomic(temp / "run" / "samples.jsonl", all);
  const Record record(temp / "run", kSettings, false);
  EXPECT_EQ(record.attempts("0000000000019999"), 1);
}

}  // namespace
}  // namespace gyre::accept

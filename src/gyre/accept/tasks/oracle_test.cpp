// Every prompt is understood by the mock's oracle, and its answers, in whatever words, are judged
// as right: this ties the sentences, the golds and the scorer to an independent reader of the
// prompts.
#include <gtest/gtest.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "gyre/accept/scoring.h"
#include "gyre/accept/tasks/task.h"

namespace gyre::accept {
namespace {

constexpr Arm kArms[] = {Arm::Main,  Arm::NoEvidence, Arm::Swap,
                         Arm::Short, Arm::Alone,      Arm::Reseed};

Frame frame(Api api, int64_t length = 1500) {
  Frame made;
  made.api = api;
  made.length = length;
  return made;
}

/// The oracle's answers to all items in one run of Python; empty when there is none.
std::vector<std::string> ask(const std::vector<Item>& items, const std::string& style) {
  const auto folder = std::filesystem::temp_directory_path() /
                      ("gyre_oracle_" + std::to_string(getpid()) + "_" + style);
  std::filesystem::create_directories(folder);
  std::ofstream out(folder / "in");
  for (const auto& item : items) {
    auto messages = nlohmann::json::array();
    for (const auto& message : item.ask.messages) {
      messages.push_back({message.role, message.content});
    }
    const char* api = item.ask.api == Api::Chat ? "chat" : "completions";
    out << nlohmann::json{{"api", api}, {"messages", messages}, {"style", style}}.dump() << "\n";
  }
  out.close();
  const std::string command = "python3 " GYRE_SOURCE_DIR "/testing/mock_server/ask_oracle.py < " +
                              (folder / "in").string() + " > " + (folder / "out").string();
  std::vector<std::string> answers;
  if (std::system(command.c_str()) == 0) {
    std::ifstream in(folder / "out");
    for (std::string line; std::getline(in, line);) {
      answers.push_back(nlohmann::json::parse(line).get<std::string>());
    }
  }
  std::filesystem::remove_all(folder);
  return answers;
}

void expect_right(const std::vector<Item>& items, const std::string& style) {
  const auto answers = ask(items, style);
  ASSERT_EQ(answers.size(), items.size()) << "python3 is needed";
  for (size_t i = 0; i < items.size(); ++i) {
    check_prompt(items[i]);
    Reply reply;
    reply.text = answers[i];
    reply.finish = "stop";
    const auto judgement = judge(items[i], reply);
    EXPECT_EQ(static_cast<int>(judgement.verdict), 0)
        << items[i].task << " " << items[i].arm << ": " << answers[i] << "\nquestion: "
        << items[i].ask.messages.back().content.substr(
               items[i].ask.messages.back().content.rfind('\n') + 1);
  }
}

std::vector<Item> needles() {
  std::vector<Item> items;
  int64_t index = 0;
  for (const char* family : {"needle", "plain"}) {
    for (const Arm arm : kArms) {
      for (const int64_t k : {0, 7, 31}) {
        Needle dials;
        dials.family = family;
        dials.index = index++;
        dials.fraction = double(index % 10) / 9;
        dials.distractors = k;
        dials.similarity = index % 5;
        dials.near_value = index % 2 == 0;
        dials.paraphrase = dials.family == "needle" && index % 3 == 0;
        dials.question_first = index % 4 == 0;
        dials.arm = arm;
        const Frame made = frame(index % 2 == 0 ? Api::Chat : Api::Completions);
        items.push_back(make_needle(dials, made));
      }
    }
  }
  return items;
}

std::vector<Item> compositions() {
  std::vector<Item> items;
  int64_t index = 0;
  for (const Arm arm : kArms) {
    for (int64_t m = 2 + static_cast<int64_t>(arm) % 2; m <= 4; ++m) {
      const std::vector<double> fractions{0.9, 0.1, 0.5, 0.3, 0.7};
      const std::vector<double> some(fractions.begin(), fractions.begin() + m);
      const Frame made = frame(++index % 2 == 0 ? Api::Chat : Api::Completions);
      for (int64_t only = 0; only <= m; only += m) {
        items.push_back(make_join({false, index, m, some, only, arm}, made));
        items.push_back(make_join({true, index, m, some, only, arm}, made));
        const auto order = static_cast<LinkOrder>(index % 3);
        items.push_back(make_chain({index, m - 1, m - 1, order, some, only, arm}, made));
        items.push_back(make_chain({index, m - 1, 0, order, some, only / 2, arm}, made));
      }
    }
    for (int form = 0; form < 4; ++form) {
      for (const bool later_first : {false, true}) {
        items.push_back(make_contradiction(
            {++index, static_cast<Conflict>(form), 0.2, 0.8, later_first, arm}, frame(Api::Chat)));
      }
    }
  }
  return items;
}

std::vector<Item> roll_calls() {
  std::vector<Item> items;
  for (const Api api : {Api::Chat, Api::Completions}) {
    items.push_back(make_roll_call({}, frame(api)));
    items.push_back(make_roll_call({16, 7, 1, 3, 1, ""}, frame(api)));
    const std::string odd = std::string("a\0b", 3) + "<|endoftext|>\r\n\U0001F9ED";
    items.push_back(make_roll_call({16, 0, 2, -1, 1, odd}, frame(api)));
  }
  items.push_back(make_roll_call({16, 0, 3, -1, 5, ""}, frame(Api::Chat)));
  return items;
}

TEST(Oracle, AnswersEveryRollCall) {
  expect_right(roll_calls(), "plain");
  expect_right(roll_calls(), "json");
}

TEST(Oracle, AnswersEveryNeedle) {
  expect_right(needles(), "varied");
}

TEST(Oracle, AnswersEveryComposition) {
  expect_right(compositions(), "varied");
}

TEST(Oracle, ContinuesARankedPrompt) {
  std::vector<Item> items;
  for (int64_t i = 0; i < 10; ++i) {
    const Arm arm = i % 2 == 0 ? Arm::Main : Arm::Swap;
    items.push_back(make_ranked({i, 4, 10, double(i) / 9, arm}, frame(Api::Completions, 1000)));
  }
  const auto answers = ask(items, "plain");
  ASSERT_EQ(answers.size(), items.size());
  for (size_t i = 0; i < items.size(); ++i) {
    EXPECT_EQ(answers[i], " " + items[i].gold[0] + ".");
  }
}

}  // namespace
}  // namespace gyre::accept

// The lists of slot values: the mock knows the same ones, and no paraphrase gives its value away.
#include "gyre/accept/text/words.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

namespace gyre::accept {
namespace {

constexpr std::pair<Slot, const char*> kSlotNames[] = {{Slot::Register, "register"},
                                                       {Slot::Place, "place"},
                                                       {Slot::Object, "object"},
                                                       {Slot::Person, "person"},
                                                       {Slot::Month, "month"}};

std::set<std::string> content_words(std::string_view text) {
  std::set<std::string> words;
  std::istringstream stream{std::string(text)};
  for (std::string word; stream >> word;) {
    std::transform(word.begin(), word.end(), word.begin(),
                   [](unsigned char c) { return char(std::tolower(c)); });
    if (word != "the") {
      words.insert(word);
    }
  }
  return words;
}

TEST(Words, AreThoseOfTheMock) {
  std::ifstream file(GYRE_SOURCE_DIR "/testing/mock_server/words.json");
  const auto json = nlohmann::json::parse(file);
  for (const auto& [slot, name] : kSlotNames) {
    std::map<std::string, std::string> own;
    for (const auto& word : words_of(slot)) {
      own.emplace(word.text, word.paraphrase);
    }
    EXPECT_EQ(own, (json.at(name).get<std::map<std::string, std::string>>())) << name;
    EXPECT_EQ(own.size(), words_of(slot).size()) << name;
  }
}

TEST(Words, FillTheirSlots) {
  EXPECT_EQ(words_of(Slot::Register).size(), 32u);
  EXPECT_EQ(words_of(Slot::Place).size(), 64u);
  EXPECT_EQ(words_of(Slot::Object).size(), 64u);
  EXPECT_EQ(words_of(Slot::Person).size(), 64u);
  EXPECT_EQ(words_of(Slot::Month).size(), 12u);
}

TEST(Words, AParaphraseSharesNoContentWordAndIsUnique) {
  for (const auto& [slot, name] : kSlotNames) {
    std::set<std::string_view> paraphrases;
    for (const auto& word : words_of(slot)) {
      EXPECT_TRUE(paraphrases.insert(word.paraphrase).second) << word.paraphrase;
      for (const auto& shared : content_words(word.text)) {
        EXPECT_EQ(content_words(word.paraphrase).count(shared), 0u) << word.text;
      }
    }
  }
}

TEST(Words, HoldNoneOfTheWordsThatFrameThem) {
  for (const auto& [slot, name] : kSlotNames) {
    for (const auto& word : words_of(slot)) {
      for (const auto text : {word.text, word.paraphrase}) {
        EXPECT_EQ(text.find_first_of(".,:;?()"), std::string_view::npos) << text;
        for (const char* frame : {"of", "in", "filed", "that", "lodged", "during", "with", "at"}) {
          EXPECT_EQ(content_words(text).count(frame), 0u) << text;
        }
      }
    }
  }
}

}  // namespace
}  // namespace gyre::accept

// Which documents are held out: by content, never on both sides.
#include "gyre/data/split.h"

#include <algorithm>
#include <set>

#include "gyre/base/files.h"
#include "gyre/data/test_folder.h"

namespace gyre::data {
namespace {

std::vector<Document> documents_of(const std::vector<std::string>& texts) {
  std::vector<Document> documents;
  for (const std::string& text : texts) {
    documents.push_back({text, sha256(text)});
  }
  return documents;
}

std::vector<std::string> many_texts(int n) {
  std::vector<std::string> texts;
  for (int i = 0; i < n; ++i) {
    texts.push_back(numbered_text(900 + static_cast<size_t>(i % 7) * 50, str("document", i)));
  }
  return texts;
}

int64_t total(const std::vector<std::string_view>& texts) {
  int64_t sum = 0;
  for (const std::string_view text : texts) {
    sum += static_cast<int64_t>(text.size());
  }
  return sum;
}

TEST(Split, KeepsDocumentsWholeAndApart) {
  const TestFolder f;
  const auto documents = documents_of(many_texts(100));
  const TextSplit split = split_documents(documents, 0.1);
  std::multiset<std::string_view> all(split.train.begin(), split.train.end());
  all.insert(split.val.begin(), split.val.end());
  ASSERT_EQ(all.size(), documents.size());
  for (const Document& document : documents) {
    EXPECT_EQ(all.count(document.text), 1U);
  }
  const double share = static_cast<double>(total(split.val)) /
                       static_cast<double>(total(split.val) + total(split.train));
  EXPECT_NEAR(share, 0.1, 0.01);
}

TEST(Split, DependsOnContentNotOnOrder) {
  const TestFolder f;
  std::vector<std::string> texts = many_texts(40);
  const auto first = documents_of(texts);
  const TextSplit a = split_documents(first, 0.2);
  std::reverse(texts.begin(), texts.end());
  const auto second = documents_of(texts);
  const TextSplit b = split_documents(second, 0.2);
  EXPECT_EQ(std::set<std::string>(a.val.begin(), a.val.end()),
            std::set<std::string>(b.val.begin(), b.val.end()));
}

// Three pieces in the order of their hashes; share 0.3 of 100 = 30.
TEST(Split, TakesPiecesThatBringTheSumNearer) {
  const TestFolder f;
  EXPECT_EQ(choose_validation({{70, "c"}, {20, "a"}, {10, "b"}}, 0.3),
            (std::vector<bool>{false, true, true}));
  EXPECT_EQ(choose_validation({{20, "c"}, {70, "a"}, {10, "b"}}, 0.3),
            (std::vector<bool>{true, false, true}));
}

TEST(Split, HoldsOutTheSmallestWhenNothingFitsAndSaysSo) {
  const TestFolder f;
  EXPECT_EQ(choose_validation({{60, "a"}, {40, "b"}}, 0.1), (std::vector<bool>{false, true}));
  expect_contains(f.log_text(), "2 documents allow a validation share of 0.4, not 0.1");
  EXPECT_EQ(choose_validation({{60, "a"}, {40, "b"}}, 0.99), (std::vector<bool>{true, false}));
}

TEST(Split, KeepsEqualPiecesTogether) {
  const TestFolder f;
  const std::vector<Piece> pieces = {{10, "a"}, {10, "b"}, {10, "a"}, {10, "c"}, {10, "b"}};
  for (const double share : {0.1, 0.3, 0.5, 0.7}) {
    const std::vector<bool> held = choose_validation(pieces, share);
    EXPECT_EQ(held[0], held[2]);
    EXPECT_EQ(held[1], held[4]);
  }
}

TEST(Split, WarnsWhenAllTextIsTheSame) {
  const TestFolder f;
  EXPECT_EQ(choose_validation({{1, "a"}, {1, "a"}, {1, "a"}}, 0.1),
            (std::vector<bool>{false, false, true}));
  expect_contains(f.log_text(), "validation text repeats training text");
}

TEST(Split, CutsASingleDocumentAtBlankLines) {
  const TestFolder f;
  const auto documents = documents_of({numbered_text(200000)});
  const TextSplit split = split_documents(documents, 0.1);
  EXPECT_EQ(total(split.train) + total(split.val), 200000);
  EXPECT_NEAR(static_cast<double>(total(split.val)) / 200000.0, 0.1, 0.03);
  EXPECT_GE(split.val.size(), 2U);  // spread over the text, not one end
  for (const std::string_view part : split.val) {
    const bool at_end =
        part.data() + part.size() == documents[0].text.data() + documents[0].text.size();
    EXPECT_TRUE(at_end || part.ends_with("\n\n"));
  }
  expect_contains(split.rule, "one document, cut into sections");
}

TEST(Split, CutsAnythingWithoutBreakingCharacters) {
  for (const std::string& unit : {std::string("\xe2\x82\xac"), std::string("a\r\n\r\nb"),
                                  std::string("word "), std::string("x")}) {
    std::string text;
    while (text.size() < 30000) {
      text += unit;
    }
    std::string joined;
    for (const std::string_view section : cut_sections(text)) {
      ASSERT_FALSE(section.empty());
      ASSERT_NE(static_cast<unsigned char>(section[0]) & 0xc0U, 0x80U);
      joined += section;
    }
    EXPECT_EQ(joined, text);
  }
  EXPECT_EQ(cut_sections("ab").size(), 2U);
  EXPECT_EQ(cut_sections("a").size(), 1U);
}

TEST(Split, RefusesWhatCannotBeSplit) {
  const auto one = documents_of({"a"});
  expect_contains(error_of(Code::Format, [&] { split_documents(one, 0.1); }), "corpus too small");
  expect_contains(error_of(Code::Format, [] { split_documents({}, 0.1); }), "corpus is empty");
}

TEST(Split, RemovesRepeatedDocuments) {
  auto documents = documents_of({"a", "b", "a", "c", "b"});
  EXPECT_EQ(remove_duplicates(documents), 2);
  ASSERT_EQ(documents.size(), 3U);
  EXPECT_EQ(documents[0].text, "a");
  EXPECT_EQ(documents[2].text, "c");
}

}  // namespace
}  // namespace gyre::data

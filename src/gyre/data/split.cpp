#include "gyre/data/split.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_set>

#include "gyre/base/error.h"
#include "gyre/base/files.h"
#include "gyre/base/log.h"

namespace gyre::data {
namespace {

constexpr size_t kSectionBytes = 4096;

/// End of the first blank line at or after `from`, before `limit`; 0 when there is none.
size_t after_blank_line(std::string_view text, size_t from, size_t limit) {
  for (size_t i = text.find('\n', from); i < limit; i = text.find('\n', i + 1)) {
    const size_t next = i + 1 < text.size() && text[i + 1] == '\r' ? i + 2 : i + 1;
    if (next < text.size() && text[next] == '\n') {
      return next + 1;
    }
  }
  return 0;
}

size_t section_end(std::string_view text, size_t begin, size_t section) {
  const size_t from = begin + section;
  const size_t limit = std::min(text.size(), from + 3 * section);
  if (const size_t end = after_blank_line(text, from, limit); end > 0) {
    return end;
  }
  if (const size_t line = text.find('\n', from); line < limit) {
    return line + 1;
  }
  size_t end = from;
  while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xc0U) == 0x80U) {
    ++end;
  }
  return end;
}

TextSplit split_sections(const Document& document, double share) {
  const std::vector<std::string_view> sections = cut_sections(document.text);
  if (sections.size() < 2) {
    throw Error(Code::Format, "corpus too small: ", document.text.size(),
                " bytes cannot be split into training and validation text; give more text");
  }
  std::vector<Piece> pieces;
  for (const std::string_view section : sections) {
    pieces.push_back({static_cast<int64_t>(section.size()), sha256(section)});
  }
  const std::vector<bool> held_out = choose_validation(pieces, share);
  TextSplit split;
  split.rule = "one document, cut into sections at blank lines; sections by content hash";
  for (size_t i = 0; i < sections.size(); ++i) {
    std::vector<std::string_view>& side = held_out[i] ? split.val : split.train;
    if (i > 0 && held_out[i] == held_out[i - 1]) {
      side.back() = {side.back().data(), side.back().size() + sections[i].size()};
    } else {
      side.push_back(sections[i]);
    }
  }
  return split;
}

}  // namespace

std::vector<bool> choose_validation(const std::vector<Piece>& pieces, double share) {
  std::map<std::string, int64_t> groups;  // ordered by hash
  int64_t total = 0;
  for (const Piece& piece : pieces) {
    groups[piece.sha256] += piece.size;
    total += piece.size;
  }
  std::vector<bool> held_out(pieces.size(), false);
  if (groups.size() < 2) {
    log(Level::Warning, "split: all ", pieces.size(), " pieces of the corpus are equal: validation",
        " text repeats training text");
    held_out.back() = true;
    return held_out;
  }
  const double target = share * static_cast<double>(total);
  std::unordered_set<std::string> chosen;
  int64_t sum = 0;
  for (const auto& [hash, size] : groups) {
    const bool nearer = static_cast<double>(sum) + static_cast<double>(size) / 2 < target;
    if (nearer && chosen.size() + 1 < groups.size()) {
      chosen.insert(hash);
      sum += size;
    }
  }
  if (chosen.empty()) {
    const auto smallest = std::min_element(groups.begin(), groups.end(),
                                           [](auto& a, auto& b) { return a.second < b.second; });
    chosen.insert(smallest->first);
    sum = smallest->second;
  }
  for (size_t i = 0; i < pieces.size(); ++i) {
    held_out[i] = chosen.contains(pieces[i].sha256);
  }
  const double reached =
      static_cast<double>(sum) / static_cast<double>(std::max<int64_t>(total, 1));
  if (std::abs(reached - share) > share / 2) {
    log(Level::Warning, "split: ", pieces.size(), " documents allow a validation share of ",
        reached, ", not ", share);
  }
  return held_out;
}

std::vector<std::string_view> cut_sections(std::string_view text) {
  const size_t section = std::clamp<size_t>(text.size() / 20, 1, kSectionBytes);
  std::vector<std::string_view> sections;
  for (size_t begin = 0; begin < text.size();) {
    const bool last = text.size() - begin < 2 * section;
    const size_t end = last ? text.size() : section_end(text, begin, section);
    sections.push_back(text.substr(begin, end - begin));
    begin = end;
  }
  return sections;
}

TextSplit split_documents(const std::vector<Document>& documents, double share) {
  if (documents.empty()) {
    throw Error(Code::Format, "corpus is empty: no document with text was found");
  }
  if (documents.size() == 1) {
    return split_sections(documents.front(), share);
  }
  std::vector<Piece> pieces;
  for (const Document& document : documents) {
    pieces.push_back({static_cast<int64_t>(document.text.size()), document.sha256});
  }
  const std::vector<bool> held_out = choose_validation(pieces, share);
  TextSplit split;
  split.rule = "whole documents, by content hash";
  for (size_t i = 0; i < documents.size(); ++i) {
    (held_out[i] ? split.val : split.train).push_back(documents[i].text);
  }
  return split;
}

int64_t remove_duplicates(std::vector<Document>& documents) {
  std::unordered_set<std::string> seen;
  return static_cast<int64_t>(std::erase_if(documents, [&seen](const Document& document) {
    return !seen.insert(document.sha256).second;
  }));
}

}  // namespace gyre::data

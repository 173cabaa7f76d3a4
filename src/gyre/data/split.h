// Which documents are held out for validation: a choice by content, so that it is the same on every
// machine, does not depend on file names, and never puts equal text on both sides.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "gyre/data/readers.h"

namespace gyre::data {

struct Piece {
  int64_t size;        // bytes or tokens
  std::string sha256;  // of the content; pieces of equal content stay together
};

/// Marks the pieces held out: in the order of their hashes, each that brings the sum nearer to
/// `share` of the total. At least one piece is held out and one is kept; needs two pieces. When all
/// pieces are equal the last is held out.
std::vector<bool> choose_validation(const std::vector<Piece>& pieces, double share);

/// Cuts one text into at least two sections of about 4 KiB or more (a twentieth of a shorter text)
/// at blank lines, else line ends, else between characters. Texts of one byte stay whole.
std::vector<std::string_view> cut_sections(std::string_view text);

struct TextSplit {
  std::vector<std::string_view> train, val;  // borrow the documents' texts
  std::string rule;                          // for the manifest
};

/// Splits by document; a single document is cut into sections first, and neighbouring sections of
/// one side are joined again. Error(Format) when nothing can be held out.
TextSplit split_documents(const std::vector<Document>& documents, double share);

/// Removes documents whose text came before; returns how many.
int64_t remove_duplicates(std::vector<Document>& documents);

}  // namespace gyre::data

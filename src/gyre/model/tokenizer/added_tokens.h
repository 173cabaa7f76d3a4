// Tokens that are found in the text before anything else: special ones and those a user added.
// Among those that begin at one place the longest wins, as in the peer's leftmost-longest search.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gyre::model {

struct AddedToken {
  int32_t id = 0;
  std::string content;
  bool special = false;                 // not parsed when the text is taken as plain text
  bool normalized = false;              // looked for after normalisation
  bool single_word = false;             // only where no word character touches it
  bool lstrip = false, rstrip = false;  // takes the white space before or after it along
};

/// One stretch of a text: an added token, or text (id -1).
struct Stretch {
  int32_t id = -1;
  size_t begin = 0, end = 0;
};

class AddedTokens {
 public:
  AddedTokens() = default;
  explicit AddedTokens(std::vector<AddedToken> tokens);

  /// Cuts `text` at the tokens; with `specials_too` false, special ones stay text.
  std::vector<Stretch> cut(std::string_view text, bool specials_too) const;
  bool empty() const { return tokens_.empty(); }

 private:
  /// Index of the longest token at `begin`, or -1.
  int32_t longest_at(std::string_view text, size_t begin) const;
  size_t next_start(std::string_view text, size_t begin) const;

  struct Node {
    unsigned char byte = 0;
    int32_t token = -1;
    int32_t child = -1, sibling = -1;
  };
  std::vector<AddedToken> tokens_;
  std::vector<Node> nodes_;
  std::vector<bool> starts_ = std::vector<bool>(256);
  std::vector<int32_t> roots_ = std::vector<int32_t>(256, -1);
  int only_start_ = -1;  // the one byte that all begin with
};

}  // namespace gyre::model

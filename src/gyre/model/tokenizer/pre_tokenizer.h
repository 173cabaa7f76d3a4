// The pre-tokenizers of tokenizer.json: cut a text into the pieces inside which merges may happen.
// Pieces are handed on one by one, so a long text needs no list of them.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "gyre/model/tokenizer/regex.h"

namespace gyre::model {

struct SplitStep {
  enum class Kind { Split, Digits, Metaspace, SpacePrefix };
  /// What becomes of the matches of a Split.
  enum class Behavior { Removed, Isolated, MergedWithPrevious, MergedWithNext, Contiguous };
  enum class Prepend { Never, First, Always };

  Kind kind = Kind::Split;
  std::shared_ptr<const Regex> pattern;  // Split
  Behavior behavior = Behavior::Isolated;
  bool invert = false;               // Split: matches and what lies between change places
  bool one_by_one = false;           // Digits: each digit for itself
  std::string replacement;           // Metaspace: stands for a space
  Prepend prepend = Prepend::Never;  // Metaspace
  bool split = true;                 // Metaspace: cut before each replacement
};

class PreTokenizer {
 public:
  using Sink = std::function<void(std::string_view piece)>;

  PreTokenizer() = default;
  explicit PreTokenizer(std::vector<SplitStep> steps) : steps_(std::move(steps)) {}

  /// State of one encoding: a search per pattern. Not shared between threads.
  class Run {
   public:
    Run(const PreTokenizer& owner, Sink sink);
    /// `first` says whether the text is the beginning of all that is encoded.
    void operator()(std::string_view text, bool first) { step(0, text, first); }

   private:
    void step(size_t i, std::string_view text, bool first);
    void split(size_t i, std::string_view text, bool first);
    void split_joined(size_t i, std::string_view text, bool first);
    void digits(size_t i, std::string_view text, bool first);
    void metaspace(size_t i, std::string_view text, bool first);

    const std::vector<SplitStep>& steps_;
    std::vector<std::unique_ptr<Regex::Search>> searches_;
    Sink sink_;
  };

 private:
  std::vector<SplitStep> steps_;
};

}  // namespace gyre::model

#include "gyre/model/tokenizer/pre_tokenizer.h"

#include "gyre/model/tokenizer/utf8.h"

namespace gyre::model {
namespace {

using Kind = SplitStep::Kind;
using Behavior = SplitStep::Behavior;

struct Part {
  size_t begin, end;
  bool match;
};

/// Matches and what lies between them, in order and without empty ones.
template <class Take>
void for_each_part(Regex::Search& search, std::string_view text, bool invert, Take take) {
  Regex::Span span;
  size_t done = 0;
  for (size_t from = 0; from <= text.size() && search.next(text, from, span);) {
    if (span.begin == span.end) {  // an empty match cuts nothing
      from = span.end < text.size() ? span.end + code_point_bytes(text[span.end]) : span.end + 1;
      continue;
    }
    if (span.begin > done) {
      take(Part{done, span.begin, invert});
    }
    take(Part{span.begin, span.end, !invert});
    from = done = span.end;
  }
  if (done < text.size()) {
    take(Part{done, text.size(), invert});
  }
}

/// The behaviours that join a match with a neighbour.
std::vector<Part> join(const std::vector<Part>& parts, Behavior behavior) {
  std::vector<Part> out;
  bool last_was_match = false;
  for (const Part& part : parts) {
    bool joins = false;
    if (behavior == Behavior::Contiguous) {
      joins = !out.empty() && part.match == last_was_match;
    } else if (behavior == Behavior::MergedWithPrevious) {
      joins = !out.empty() && part.match && !last_was_match;
    } else {
      joins = !out.empty() && !part.match && last_was_match;
    }
    if (joins) {
      out.back().end = part.end;
    } else {
      out.push_back(part);
    }
    last_was_match = part.match;
  }
  return out;
}

}  // namespace

PreTokenizer::Run::Run(const PreTokenizer& owner, Sink sink)
    : steps_(owner.steps_), sink_(std::move(sink)) {
  for (const SplitStep& step : steps_) {
    searches_.push_back(step.pattern == nullptr ? nullptr
                                                : std::make_unique<Regex::Search>(*step.pattern));
  }
}

void PreTokenizer::Run::step(size_t i, std::string_view text, bool first) {
  if (text.empty()) {
    return;
  }
  if (i == steps_.size()) {
    sink_(text);
    return;
  }
  switch (steps_[i].kind) {
    case Kind::Split:
      return split(i, text, first);
    case Kind::Digits:
      return digits(i, text, first);
    case Kind::Metaspace:
      return metaspace(i, text, first);
    case Kind::SpacePrefix:
      return text.front() == ' ' ? step(i + 1, text, first)
                                 : step(i + 1, " " + std::string(text), first);
  }
}

void PreTokenizer::Run::split(size_t i, std::string_view text, bool first) {
  const SplitStep& how = steps_[i];
  if (how.behavior != Behavior::Isolated && how.behavior != Behavior::Removed) {
    return split_joined(i, text, first);
  }
  const bool keep = how.behavior == Behavior::Isolated;
  for_each_part(*searches_[i], text, how.invert, [&](const Part& part) {
    if (keep || !part.match) {
      step(i + 1, text.substr(part.begin, part.end - part.begin), first && part.begin == 0);
    }
  });
}

void PreTokenizer::Run::split_joined(size_t i, std::string_view text, bool first) {
  std::vector<Part> parts;
  for_each_part(*searches_[i], text, steps_[i].invert,
                [&](const Part& part) { parts.push_back(part); });
  for (const Part& part : join(parts, steps_[i].behavior)) {
    step(i + 1, text.substr(part.begin, part.end - part.begin), first && part.begin == 0);
  }
}

void PreTokenizer::Run::digits(size_t i, std::string_view text, bool first) {
  size_t begin = 0;
  bool in_number = false;
  for (size_t at = 0; at < text.size();) {
    const CodePoint point = code_point(text, at);
    const bool number = is_numeric(point.value);
    if (at > begin && (number != in_number || (number && steps_[i].one_by_one))) {
      step(i + 1, text.substr(begin, at - begin), first && begin == 0);
      begin = at;
    }
    in_number = number;
    at += point.n_bytes;
  }
  step(i + 1, text.substr(begin), first && begin == 0);
}

void PreTokenizer::Run::metaspace(size_t i, std::string_view text, bool first) {
  const SplitStep& how = steps_[i];
  std::string changed;
  changed.reserve(text.size() + text.size() / 2);
  for (const char c : text) {
    c == ' ' ? changed += how.replacement : changed += c;
  }
  const bool prepends = how.prepend == SplitStep::Prepend::Always ||
                        (how.prepend == SplitStep::Prepend::First && first);
  if (prepends && !changed.starts_with(how.replacement)) {
    changed.insert(0, how.replacement);
  }
  if (!how.split) {
    return step(i + 1, changed, first);
  }
  size_t begin = 0;
  const std::string_view all = changed;
  for (size_t at = all.find(how.replacement, 1); at != std::string_view::npos;
       at = all.find(how.replacement, at + 1)) {
    step(i + 1, all.substr(begin, at - begin), first && begin == 0);
    begin = at;
  }
  step(i + 1, all.substr(begin), first && begin == 0);
}

}  // namespace gyre::model

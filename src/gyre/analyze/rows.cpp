#include "gyre/analyze/rows.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/tensor.h>

#include <algorithm>
#include <set>

#include "gyre/base/error.h"
#include "gyre/base/rng.h"

namespace gyre::analyze {
namespace {

constexpr int64_t kLongestPeriod = 32;  // two repetitions fit into a drawn pattern
constexpr size_t kAlphabet = 8;

std::vector<int64_t> encode(const Subject& subject, const Text& text) {
  const std::vector<int32_t> ids = subject.tokenizer.encode(text.content);
  const int64_t vocab = subject.model.config().vocab;
  for (const int32_t id : ids) {
    if (id < 0 || id >= vocab) {
      throw Error(Code::Format, subject.name, ": its tokenizer gives id ", id, " in the text ",
                  text.name, ", the model has ", vocab, " tokens; give the model's own tokenizer");
    }
  }
  return {ids.begin(), ids.end()};
}

/// A row of T tokens: the begin token, when the model has one, and the body.
at::Tensor with_begin(const Subject& subject, const at::Tensor& body) {
  return subject.begin_token < 0 ? body
                                 : at::cat({at::full({1}, subject.begin_token, at::kLong), body});
}

/// Rows of one text, evenly spaced and never overlapping.
std::vector<at::Tensor> text_rows(const Subject& subject, const std::vector<int64_t>& ids,
                                  int64_t body, int64_t n_rows) {
  const auto size = static_cast<int64_t>(ids.size());
  const at::Tensor all = at::tensor(ids, at::kLong);
  std::vector<at::Tensor> rows;
  for (int64_t i = 0; i < n_rows; ++i) {
    const int64_t room = size - n_rows * body;
    const int64_t begin = i * body + (n_rows > 1 ? room * i / (n_rows - 1) : 0);
    rows.push_back(with_begin(subject, all.narrow(0, begin, body)));
  }
  return rows;
}

void add_text(Rows& rows, std::vector<at::Tensor>& list, const Subject& subject, const Text& text,
              const AnalyzeOptions& options, int64_t body) {
  const std::vector<int64_t> ids = encode(subject, text);
  const auto size = static_cast<int64_t>(ids.size());
  const int64_t held = std::min(options.windows, size / body);
  if (held < options.windows) {
    rows.notes.push_back(str("text ", text.name, ": ", size, " tokens hold ", held, " rows of ",
                             body, ", ", options.windows, " were asked"));
  }
  if (held == 0) {
    return;
  }
  for (at::Tensor& row : text_rows(subject, ids, body, held)) {
    list.push_back(std::move(row));
  }
  rows.domains.push_back({text.name, text.source, size, rows.n_text, held});
  rows.n_text += held;
}

at::Tensor repeat_row(const Rows& rows, int64_t body, uint64_t seed, uint64_t index) {
  const at::Tensor once = random_ids(rows.vocabulary, rows.period, seed, "analyze/repeat", index);
  return once.repeat({(body + rows.period - 1) / rows.period}).narrow(0, 0, body);
}

at::Tensor alphabet_row(const Rows& rows, int64_t body, uint64_t seed, uint64_t index) {
  std::vector<int64_t> pool = rows.vocabulary;
  Rng rng(seed, "analyze/alphabet", index);
  for (size_t i = 0; i < std::min(kAlphabet, pool.size()); ++i) {
    std::swap(pool[i], pool[i + rng.below(pool.size() - i)]);
  }
  pool.resize(std::min(kAlphabet, pool.size()));
  return random_ids(pool, body, seed, "analyze/alphabet-row", index);
}

}  // namespace

at::Tensor random_ids(const std::vector<int64_t>& vocabulary, int64_t length, uint64_t seed,
                      std::string_view stream, uint64_t index) {
  Rng rng(seed, stream, index);
  const auto T = static_cast<size_t>(length);
  std::vector<int64_t> ids = vocabulary;
  const bool enough = T <= ids.size();
  ids.resize(std::max(T, ids.size()));
  for (size_t i = 0; i < T; ++i) {
    if (enough) {  // Fisher-Yates
      std::swap(ids[i], ids[i + rng.below(ids.size() - i)]);
    } else {
      ids[i] = vocabulary[rng.below(vocabulary.size())];
    }
  }
  ids.resize(T);
  return at::tensor(ids, at::kLong);
}

Rows make_rows(const Subject& subject, const std::vector<Text>& texts,
               const AnalyzeOptions& options) {
  Rows rows;
  const int64_t body = options.tokens - (subject.begin_token < 0 ? 0 : 1);
  std::vector<at::Tensor> list;
  for (const Text& text : texts) {
    add_text(rows, list, subject, text, options, body);
  }
  if (list.empty()) {
    throw Error(Code::Usage, "analyze: no text holds a row of ", options.tokens,
                " tokens; give a longer --text or fewer --tokens");
  }
  std::set<int64_t> distinct;
  for (const at::Tensor& row : list) {
    const int64_t* ids = row.const_data_ptr<int64_t>();
    distinct.insert(ids, ids + row.numel());
  }
  distinct.erase(subject.begin_token);
  rows.vocabulary.assign(distinct.begin(), distinct.end());
  rows.n_random = options.random_rows;
  rows.period = std::min(kLongestPeriod, body / 2);
  const auto seed = static_cast<uint64_t>(options.seed);
  for (const auto make : {repeat_row, alphabet_row}) {
    for (int64_t i = 0; i < rows.n_random; ++i) {
      list.push_back(with_begin(subject, make(rows, body, seed, static_cast<uint64_t>(i))));
    }
  }
  rows.tokens = at::stack(list);
  return rows;
}

}  // namespace gyre::analyze

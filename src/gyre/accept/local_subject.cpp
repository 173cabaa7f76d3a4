// One request at a time. A prompt that begins like the one before it keeps what the cache holds of
// it, in whole chunks only: the rest then runs in the same chunks as from the beginning, so that
// the same prompt gives the same bits whatever came before.
#include "gyre/accept/local_subject.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/log_softmax.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/topk.h>

#include <unistd.h>
#include <algorithm>
#include <chrono>
#include <fstream>
#include <mutex>

#include "gyre/base/error.h"
#include "gyre/train/any_model.h"
#include "gyre/train/machine.h"

namespace gyre::accept {
namespace {

using Clock = std::chrono::steady_clock;

double ms_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

/// Resident memory of this process now.
double resident_mib() {
  int64_t all = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> all >> resident;
  return static_cast<double>(resident) * static_cast<double>(::sysconf(_SC_PAGESIZE)) / 1048576.0;
}

std::vector<int64_t> widen(const std::vector<int32_t>& ids) {
  return {ids.begin(), ids.end()};
}

size_t common_prefix(const std::vector<int64_t>& a, const std::vector<int64_t>& b) {
  return static_cast<size_t>(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first -
                             a.begin());
}

/// Tokens of a continuation and where its log-probability goes.
struct Continuation {
  std::vector<int64_t> ids;
  size_t index = 0;
};

class LocalSubject : public Subject {
 public:
  explicit LocalSubject(const LocalOptions& options)
      : options_(options),
        any_(train::load_any_model(
            options.model, {.dtype = options.dtype == "bf16" ? at::kBFloat16 : at::kFloat})) {
    if (any_.tokenizer == nullptr) {
      throw Error(Code::Usage, "accept: ", options.model.string(),
                  " has no tokenizer, and prompts are text");
    }
  }

  std::string name() const override { return options_.model.string() + " " + options_.dtype; }
  bool concurrent() const override { return false; }
  bool can(Api api) const override { return api == Api::Completions; }

  Facts discover() override {
    Facts facts;
    facts.server = "in process";
    facts.model = any_.family;
    facts.counts_tokens = facts.echoes = true;
    if (any_.max_length > 0) {
      facts.claims.push_back({"configuration", any_.max_length});
    }
    facts.other["vocabulary"] = str(any_.tokenizer->vocab());
    return facts;
  }

  std::optional<int64_t> count_tokens(const std::string& text) override {
    return static_cast<int64_t>(any_.tokenizer->encode(text).size());
  }

  Reply ask(const Ask& ask) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    const at::NoGradGuard no_grad;
    Reply reply;
    const auto start = Clock::now();
    const std::string prompt = ask.messages.empty() ? "" : ask.messages.back().content;
    const std::vector<int64_t> ids = prompt_ids(prompt);
    if (ids.empty()) {
      reply.fault = Fault::Client;
      reply.fault_text = "the prompt has no token";
      return reply;
    }
    make_room(static_cast<int64_t>(ids.size()) + std::max<int64_t>(ask.max_tokens, 1) + 32);
    if (ask.echo) {
      reply.prompt_logprobs = echo(ids);
    }
    const at::Tensor row = prefill(ids, reply);
    reply.first_byte_ms = reply.first_token_ms = ms_since(start);
    for (const double score : score_candidates(prompt, ids, ask.candidates, row)) {
      reply.candidates.emplace_back(score);
    }
    write_answer(ask, row, reply);
    reply.prompt_tokens = static_cast<int64_t>(ids.size());
    reply.total_tokens = *reply.prompt_tokens + *reply.completion_tokens;
    reply.total_ms = ms_since(start);
    reply.memory_mib = resident_mib();
    return reply;
  }

 private:
  LocalOptions options_;
  train::AnyModel any_;
  std::mutex mutex_;
  std::unique_ptr<model::Transformer> model_;  // with the tables for room_ tokens
  std::unique_ptr<model::KvCache> cache_;
  int64_t room_ = 0;
  std::vector<int64_t> held_;  // tokens in the cache

  std::vector<int64_t> prompt_ids(const std::string& text) const {
    return widen(model::encode_prompt(*any_.tokenizer, text, model::Specials::AsText));
  }

  // Tables may depend on the length; caches filled under others are refused by the model.
  void make_room(int64_t tokens) {
    if (model_ == nullptr || !any_.model.plan().length_rule.empty()) {
      if (model_ == nullptr || tokens != room_) {
        model_ = std::make_unique<model::Transformer>(any_.at_length(tokens));
        begin_anew();
      }
    }
    room_ = tokens;
  }

  void begin_anew() {
    // Every key is kept (windows are masks), so that any number of tokens can be taken back.
    cache_ = std::make_unique<model::KvCache>(model_->config().layers);
    held_.clear();
  }

  void keep_prefix(const std::vector<int64_t>& ids) {
    const auto chunk = static_cast<size_t>(options_.chunk);
    const size_t shared = std::min(common_prefix(held_, ids), ids.size() - 1) / chunk * chunk;
    if (shared == 0) {
      begin_anew();
      return;
    }
    cache_->truncate(static_cast<int64_t>(shared));
    held_.resize(shared);
  }

  at::Tensor feed(const std::vector<int64_t>& ids) {
    const at::Tensor tokens = at::tensor(ids, at::kLong).unsqueeze(0);
    const at::Tensor hidden = model_->hidden(tokens, {.cache = cache_.get()});
    held_.insert(held_.end(), ids.begin(), ids.end());
    return hidden;
  }

  /// Log-probabilities [V] of what follows a hidden state [1, 1, C].
  at::Tensor scores_of(const at::Tensor& hidden) const {
    return at::log_softmax(model_->project(hidden).reshape({-1}), 0);
  }

  at::Tensor prefill(const std::vector<int64_t>& ids, Reply& reply) {
    keep_prefix(ids);
    reply.cached_tokens = static_cast<int64_t>(held_.size());
    at::Tensor hidden;
    while (held_.size() < ids.size()) {
      const size_t n = std::min(static_cast<size_t>(options_.chunk), ids.size() - held_.size());
      const auto first = ids.begin() + static_cast<std::ptrdiff_t>(held_.size());
      hidden = feed({first, first + static_cast<std::ptrdiff_t>(n)});
    }
    return scores_of(hidden.narrow(1, hidden.size(1) - 1, 1));
  }

  // Rows of logits are as wide as the vocabulary: few at a time.
  std::vector<std::optional<double>> echo(const std::vector<int64_t>& ids) {
    constexpr int64_t kRows = 64;
    begin_anew();
    std::vector<std::optional<double>> out{std::nullopt};
    for (size_t first = 0; first < ids.size(); first = held_.size()) {
      const size_t n = std::min(static_cast<size_t>(options_.chunk), ids.size() - first);
      const auto from = ids.begin() + static_cast<std::ptrdiff_t>(first);
      const at::Tensor hidden = feed({from, from + static_cast<std::ptrdiff_t>(n)});
      for (int64_t t = 0; t < static_cast<int64_t>(n); t += kRows) {
        const int64_t rows = std::min(kRows, static_cast<int64_t>(n) - t);
        const at::Tensor scores =
            at::log_softmax(model_->project(hidden.narrow(1, t, rows)).squeeze(0), 1);
        for (int64_t r = 0; r < rows; ++r) {
          const size_t next = first + static_cast<size_t>(t + r) + 1;
          if (next < ids.size()) {
            out.emplace_back(scores[r][ids[next]].item<double>());
          }
        }
      }
    }
    return out;
  }

  /// The whole continuation's log-probability, however many tokens it has.
  std::vector<double> score_candidates(const std::string& prompt, const std::vector<int64_t>& ids,
                                       const std::vector<std::string>& candidates,
                                       const at::Tensor& row) {
    std::vector<Continuation> all;
    for (size_t i = 0; i < candidates.size(); ++i) {
      std::vector<int64_t> whole = prompt_ids(prompt + candidates[i]);
      if (common_prefix(ids, whole) < ids.size() || whole.size() == ids.size()) {
        // The last token of the prompt would be another one: score the text by itself instead.
        whole = ids;
        const auto alone = any_.tokenizer->encode(candidates[i]);
        whole.insert(whole.end(), alone.begin(), alone.end());
      }
      all.push_back({{whole.begin() + static_cast<std::ptrdiff_t>(ids.size()), whole.end()}, i});
    }
    std::vector<double> out(candidates.size(), 0.0);
    descend(all, 0, row, out);
    return out;
  }

  // Continuations that begin alike share a step; the cache is taken back after each.
  void descend(const std::vector<Continuation>& all, size_t depth, const at::Tensor& row,
               std::vector<double>& out) {
    std::map<int64_t, std::vector<Continuation>> longer;
    for (const Continuation& one : all) {
      if (depth < one.ids.size()) {
        out[one.index] += row[one.ids[depth]].item<double>();
        if (depth + 1 < one.ids.size()) {
          longer[one.ids[depth]].push_back(one);
        }
      }
    }
    for (const auto& [id, group] : longer) {
      const at::Tensor next = scores_of(feed({id}));
      descend(group, depth + 1, next, out);
      held_.pop_back();
      cache_->truncate(static_cast<int64_t>(held_.size()));
    }
  }

  void write_answer(const Ask& ask, at::Tensor row, Reply& reply) {
    const std::vector<int64_t> ends = any_.tokenizer->special_ids().eos;
    model::TextStream stream(*any_.tokenizer, true);
    reply.finish = "length";
    int64_t written = 0;
    for (; written < ask.max_tokens; ++written) {
      const int64_t id = row.argmax().item<int64_t>();
      if (ask.top_logprobs > 0) {
        reply.top.push_back(top_of(row, ask.top_logprobs));
      }
      if (std::find(ends.begin(), ends.end(), id) != ends.end()) {
        reply.finish = "stop";
        break;
      }
      reply.text += stream.push(static_cast<int32_t>(id));
      if (written + 1 < ask.max_tokens) {
        row = scores_of(feed({id}));
      }
    }
    reply.text += stream.finish();
    reply.chunks = written;
    reply.completion_tokens = written;
  }

  std::vector<TokenScore> top_of(const at::Tensor& row, int64_t n) const {
    const auto [values, ids] = at::topk(row, std::min(n, row.size(0)));
    std::vector<TokenScore> out;
    for (int64_t i = 0; i < ids.size(0); ++i) {
      out.push_back({any_.tokenizer->piece(static_cast<int32_t>(ids[i].item<int64_t>())),
                     values[i].item<double>()});
    }
    return out;
  }
};

}  // namespace

std::unique_ptr<Subject> open_local(const LocalOptions& options) {
  if (options.dtype != "fp32" && options.dtype != "bf16") {
    throw Error(Code::Usage, "--dtype must be fp32 or bf16, got '", options.dtype, "'");
  }
  train::map_large_memory();  // records grow between the logits of large vocabularies
  return std::make_unique<LocalSubject>(options);
}

}  // namespace gyre::accept

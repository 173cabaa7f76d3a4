// Options of an acceptance run. What decides a run is in settings(); a folder keeps it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace gyre::accept {

struct AcceptOptions {
  std::vector<int64_t> lengths{1024, 4096, 16384};  // tokens, prompt and answer together
  std::vector<int64_t> levels{1, 2, 3};
  int64_t original_length = 512;  // tokens: where the model is surely able; baseline of everything
  int64_t context = 0;            // tokens that somebody promised; 0 = what the server claims
  int64_t seed = 1;
  std::string api = "auto";      // auto | chat | completions | both
  std::string stream = "auto";   // auto | on | off
  std::string ranking = "auto";  // auto | on | off: score candidates instead of answers
  bool full_grid = false;        // all distractors, similarities, paraphrases, question places
  int64_t concurrency = 1;
  std::vector<int64_t> looks{16, 48, 128};  // items per bucket after which a decision may fall
  double threshold = 0.9;  // of the accuracy at the original length that every bucket must keep
  double alpha = 0.05;
  bool curves = true;      // the latency pass
  int64_t max_tokens = 0;  // of an answer; 0 = measured
  double slow_s = 60;      // a first byte later than that is a finding: many clients wait no longer
  std::string send;        // JSON object added to every request, {"options":{"num_ctx":16384}}
  double price_in = 0.0, price_out = 0.0;  // money per million tokens
  int64_t ask_above = 5000;                // requests above which a run wants --yes
  std::string before;  // folder of an earlier run to compare with; decides no request

  template <class V>
  void fields(V& v) {
    v("lengths", lengths, "prompt lengths, tokens");
    v("levels", levels, "1 length kept, 2 retrieval, 3 composition");
    v("original-length", original_length, "tokens at which the model is surely able: the baseline");
    v("context", context, "window that was promised, tokens; 0 = what the server claims");
    v("seed", seed, "of all prompts");
    v("api", api, "auto | chat | completions | both");
    v("stream", stream, "auto | on | off");
    v("ranking", ranking, "auto | on | off: rank candidates instead of reading answers");
    v("full-grid", full_grid, "every distractor count, similarity, paraphrase and question place");
    v("concurrency", concurrency, "requests in flight, levels 2 and 3");
    v("looks", looks, "items per position bucket after which a decision may fall");
    v("threshold", threshold, "share of the short baseline's accuracy that every bucket must keep");
    v("alpha", alpha, "chance of a wrong decision over all buckets and looks");
    v("curves", curves, "measure time to first token and decode rate by length");
    v("max-tokens", max_tokens, "of an answer; 0 = measured");
    v("slow-first-byte", slow_s, "seconds after which a first byte is reported as slow");
    v("send", send, "JSON object added to every request");
    v("price-in", price_in, "money per million prompt tokens, for the plan");
    v("price-out", price_out, "money per million answer tokens, for the plan");
    v("ask-above", ask_above, "requests above which --yes is wanted");
  }
};

/// Options as the settings of a run's folder tell them.
AcceptOptions options_of(const std::map<std::string, std::string>& settings);

/// Throws Error(Usage) naming the option that does not fit.
void check(const AcceptOptions& options);

}  // namespace gyre::accept

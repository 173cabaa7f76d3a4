#include "gyre/accept/level1/prober.h"

#include <algorithm>
#include <utility>

namespace gyre::accept {

Prober::Prober(Bench& the_bench) : bench(the_bench) {
  const std::string& api = bench.options.api;
  const Subject& subject = bench.session.subject();
  const bool chat = subject.can(Api::Chat) && api != "completions";
  const bool completions = subject.can(Api::Completions) && api != "chat";
  main = chat ? Api::Chat : Api::Completions;
  if (chat && completions) {
    other = Api::Completions;
  }
}

int64_t Prober::stripes_at(int64_t length) const {
  // A checkpoint costs about 14 tokens of prompt and 10 of answer with real tokenizers.
  return length >= 1024 ? 16 : length >= 384 ? 8 : 4;
}

int64_t Prober::room(int64_t length) const {
  // A budget that leaves no prompt is not taken off: thinking models need thousands of tokens.
  return std::min(answer_tokens, length / 2);
}

Item Prober::roll_call(RollCall dials, int64_t length, Api api) const {
  if (dials.stripes <= 0) {
    dials.stripes = stripes_at(length);
  }
  Frame frame;
  frame.api = api;
  frame.length = length;
  frame.max_tokens = room(length);
  frame.calibration = calibration;
  frame.seed = uint64_t(bench.options.seed);
  Item item = make_roll_call(dials, frame);
  item.level = 1;
  item.ask.max_tokens = answer_tokens;
  item.tokens_predicted = predicted(item);
  return item;
}

int64_t Prober::predicted(const Item& item) const {
  return calibration.tokens_for(prompt_bytes(item.ask));
}

const Seen& Prober::keep(Seen seen) {
  all.push_back(std::move(seen));
  return all.back();
}

Seen Prober::ask(Item item) {
  const int64_t tokens = predicted(item);
  Sample sample = bench.session.ask(item);
  item.sid = sample.item.sid;
  sample.item = std::move(item);  // a sample from the record has no texts
  return keep(see(sample, tokens));
}

Seen Prober::again(const Seen& before) {
  Item item = before.sample.item;
  item.sid.clear();
  int64_t& occasion = occasions_[prompt_text(item.ask)];
  item.occasion = ++occasion;
  return ask(std::move(item));
}

std::vector<Seen> Prober::ask_together(std::vector<Item> items) {
  std::vector<Sample> samples = bench.session.ask_together(items);
  std::vector<Seen> seen;
  for (size_t i = 0; i < samples.size(); ++i) {
    items[i].sid = samples[i].item.sid;
    const int64_t tokens = predicted(items[i]);
    samples[i].item = std::move(items[i]);
    seen.push_back(keep(see(samples[i], tokens)));
  }
  return seen;
}

std::vector<std::string> sids(const std::vector<Seen>& some) {
  std::vector<std::string> found;
  for (const Seen& seen : some) {
    if (!seen.sid().empty() && std::find(found.begin(), found.end(), seen.sid()) == found.end()) {
      found.push_back(seen.sid());
    }
  }
  return found;
}

}  // namespace gyre::accept

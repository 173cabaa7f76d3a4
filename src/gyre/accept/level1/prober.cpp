#include "gyre/accept/level1/prober.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "gyre/accept/text/filler.h"
#include "gyre/base/error.h"

namespace gyre::accept {

namespace {

/// Bytes of a roll call with its question twice, its codes and a sentence that can be changed
/// before each.
int64_t least_bytes(int64_t stripes) {
  return 640 + 80 * stripes;
}

}  // namespace

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

int64_t Prober::max_tokens(int64_t codes) const {
  if (bench.options.max_tokens > 0) {
    return bench.options.max_tokens;
  }
  return answer_per_code > 0 ? int64_t(std::ceil(1.1 * answer_per_code * double(codes))) + 16
                             : answer_tokens;
}

Item Prober::make(RollCall dials, Frame frame) const {
  frame.calibration = calibration;
  frame.seed = uint64_t(bench.options.seed);
  const int64_t budget = max_tokens(dials.only > 0 ? 1 : dials.stripes);
  Item item = make_roll_call(dials, frame);
  item.level = 1;
  item.ask.max_tokens = budget;
  item.tokens_predicted = predicted(item);
  return item;
}

Item Prober::roll_call(RollCall dials, int64_t length, Api api) const {
  constexpr int64_t kFewest = 4;
  if (dials.stripes == RollCall().stripes) {
    dials.stripes = stripes_at(length);
  }
  for (;; dials.stripes /= 2) {  // few bytes a token: the same sentences take more of the length
    try {
      return roll_call_of(dials, length, api);
    } catch (const NoRoom&) {
      if (dials.stripes <= kFewest || dials.only > 0 || dials.changed >= 0) {
        throw;
      }
    }
  }
}

std::string Prober::no_room(int64_t length) const {
  try {
    (void)roll_call({}, length, main);
    return "";
  } catch (const NoRoom& none) {
    return none.what();
  }
}

Item Prober::roll_call_of(const RollCall& dials, int64_t length, Api api) const {
  Frame frame;
  frame.api = api;
  frame.length = length;
  // A budget that leaves no prompt is not taken off: thinking models need thousands of tokens.
  const int64_t prompt = calibration.tokens_for(least_bytes(dials.stripes));
  frame.max_tokens =
      std::min({max_tokens(dials.stripes), length / 2, std::max<int64_t>(0, length - prompt)});
  return make(dials, frame);
}

Item Prober::roll_call_of_prompt(RollCall dials, int64_t tokens) const {
  dials.stripes = tokens >= 220 ? 8 : 4;
  Frame frame;
  frame.api = main;
  frame.length = tokens;
  frame.max_tokens = 0;
  return make(dials, frame);
}

int64_t Prober::predicted(const Item& item) const {
  return calibration.tokens_for(prompt_bytes(item.ask));
}

void Prober::leave(Api api, const std::string& why) {
  main = api == Api::Chat ? Api::Completions : Api::Chat;
  other.reset();
  std::erase_if(all, [&](const Seen& seen) { return seen.sample.item.ask.api == api; });
  bench.result.one.only = main;
  bench.result.facts.other[str(name_of(api), " endpoint")] = "not served: " + why;
}

const Seen& Prober::keep(Seen seen) {
  all.push_back(std::move(seen));
  return all.back();
}

Seen Prober::ask(Item item) {
  Sample sample = bench.session.ask(item);
  item.sid = sample.item.sid;
  sample.item = std::move(item);  // a sample from the record has no texts
  return keep(see(sample, calibration));
}

Seen Prober::again(const Seen& before) {
  Item item = before.sample.item;
  item.sid.clear();
  std::string text = str(item.task, name_of(item.ask.api), item.ask.top_logprobs);
  for (const Message& message : item.ask.messages) {
    text += message.content;
  }
  item.occasion = ++occasions_[std::hash<std::string>()(text)];
  return ask(std::move(item));
}

std::vector<Seen> Prober::ask_together(std::vector<Item> items) {
  std::vector<Sample> samples = bench.session.ask_together(items);
  std::vector<Seen> seen;
  for (size_t i = 0; i < samples.size(); ++i) {
    items[i].sid = samples[i].item.sid;
    samples[i].item = std::move(items[i]);
    seen.push_back(keep(see(samples[i], calibration)));
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

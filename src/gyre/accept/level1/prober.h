// Asks roll calls for all parts of level 1 and keeps everything that was seen. Holds what the
// calibration found: tokens a byte, output budget, which endpoints answer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "gyre/accept/acceptance.h"
#include "gyre/accept/level1/seen.h"
#include "gyre/accept/tasks/task.h"

namespace gyre::accept {

class Prober {
 public:
  explicit Prober(Bench& bench);

  /// A roll call of a prompt that has `length` tokens together with its answer; with fewer stripes
  /// than usual where there is no room for all.
  ///
  /// throws  NoRoom
  Item roll_call(RollCall dials, int64_t length, Api api) const;
  /// A roll call whose prompt alone has that many tokens.
  Item roll_call_of_prompt(RollCall dials, int64_t tokens) const;
  /// Why a length has no room for a roll call; "" = it has.
  std::string no_room(int64_t length) const;
  Seen ask(Item item);
  Seen ask(const RollCall& dials, int64_t length, Api api) {
    return ask(roll_call(dials, length, api));
  }
  /// The same bytes once more.
  Seen again(const Seen& before);
  std::vector<Seen> ask_together(std::vector<Item> items);
  /// Forgets an endpoint that is not served, and what was asked through it.
  void leave(Api api, const std::string& why);
  int64_t fresh_salt() { return ++salt_; }

  /// Tokens of a prompt with its answer, and back.
  int64_t predicted(const Item& item) const;
  int64_t max_tokens(int64_t codes) const;
  int64_t stripes_at(int64_t length) const;

  Bench& bench;
  Calibration calibration;
  double answer_per_code = 0;   // tokens of the answer, measured; 0 = not yet
  int64_t answer_tokens = 256;  // max_tokens until then, and of models that think
  int64_t most_logprobs = 20;   // that the server grants; 0 = none
  bool able = false;
  bool gone = false;        // the server answers no more
  bool unnumbered = false;  // its way of writing roll calls
  Api main = Api::Chat;
  std::optional<Api> other;
  std::vector<Seen> all;  // in the order of asking

  const AcceptOptions& options() const { return bench.options; }

 private:
  int64_t salt_ = 0;
  std::map<size_t, int64_t> occasions_;  // how often a prompt was asked again, by its hash
  Item make(RollCall dials, Frame frame) const;
  Item roll_call_of(const RollCall& dials, int64_t length, Api api) const;
  const Seen& keep(Seen seen);
};

/// Sids of some.
std::vector<std::string> sids(const std::vector<Seen>& some);

}  // namespace gyre::accept

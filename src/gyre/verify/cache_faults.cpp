#include "gyre/verify/cache_faults.h"

#include <ATen/TensorOperators.h>
#include <ATen/ops/roll.h>

#include <algorithm>

#include "gyre/base/error.h"

namespace gyre::verify {
namespace {

// A fault that every model shows.
constexpr const char* kShownByAll = "cache-padding-seen";

using model::KvCache;
using position::PositionPlan;

template <class Cache>
CacheUse use_of() {
  CacheUse use = sound_cache_use();
  use.make = [](const PositionPlan& plan) { return std::make_unique<Cache>(plan); };
  return use;
}

// The first token after the prompt gets the prompt's last position again.
class LatePosition : public KvCache {
 public:
  using KvCache::KvCache;
  int64_t next_position() const override {
    return std::max<int64_t>(KvCache::next_position() - 1, 0);
  }
};

class ChunksFromZero : public KvCache {
 public:
  using KvCache::KvCache;
  int64_t next_position() const override { return 0; }
};

// A chunk's offset is added to positions that have it already.
class OffsetTwice : public KvCache {
 public:
  using KvCache::KvCache;
  int64_t next_position() const override { return 2 * length(); }
};

// Padded rows go on at a position that counts their padding once more.
class PaddingGap : public KvCache {
 public:
  using KvCache::KvCache;
  int64_t next_position() const override { return length() + (padded() && length() > 0 ? 2 : 0); }
};

class PaddingSeen : public KvCache {
 public:
  using KvCache::KvCache;
  at::Tensor first_key(const Held& /*held*/, int64_t /*n_queries*/) const override { return {}; }
};

class FirstTokenHidden : public KvCache {
 public:
  using KvCache::KvCache;
  at::Tensor first_key(const Held& held, int64_t n_queries) const override {
    const at::Tensor first = KvCache::first_key(held, n_queries);
    return first.defined() ? first + 1 : first;
  }
};

// The oldest key that a query of a window sees is gone.
class ShortWindow : public KvCache {
 public:
  explicit ShortWindow(const PositionPlan& plan) : KvCache(plan), plan_(plan) {}
  Held append(int64_t n, const at::Tensor& k, const at::Tensor& v) override {
    Held held = KvCache::append(n, k, v);
    const position::MaskSpec& mask = plan_.layers[static_cast<size_t>(n)].mask;
    if (mask.window > 1 && held.first > 0 && held.k.size(2) > k.size(2)) {
      held.k = held.k.narrow(2, 1, held.k.size(2) - 1);
      held.v = held.v.narrow(2, 1, held.v.size(2) - 1);
      ++held.first;
    }
    return held;
  }

 private:
  PositionPlan plan_;
};

// Taken-back tokens leave their keys where the next ones should lie.
class StaleAfterRollback : public KvCache {
 public:
  using KvCache::KvCache;
  void truncate(int64_t length) override { position_back_ = this->length() - length; }
  int64_t next_position() const override { return length() - position_back_; }

 private:
  int64_t position_back_ = 0;
};

// The keys of the token before a chunk are written over.
class LastKeyLost : public KvCache {
 public:
  using KvCache::KvCache;
  Held append(int64_t n, const at::Tensor& k, const at::Tensor& v) override {
    Held held = KvCache::append(n, k, v);
    const int64_t before = held.k.size(2) - k.size(2) - 1;
    if (before >= 0) {
      held.k.select(2, before).zero_();
      held.v.select(2, before).zero_();
    }
    return held;
  }
};

class ValuesShifted : public KvCache {
 public:
  using KvCache::KvCache;
  Held append(int64_t n, const at::Tensor& k, const at::Tensor& v) override {
    Held held = KvCache::append(n, k, v);
    const int64_t before = held.v.size(2) - k.size(2);
    if (before > 1) {
      held.v = held.v.clone();
      held.v.narrow(2, 0, before).copy_(at::roll(held.v.narrow(2, 0, before).clone(), {1}, {2}));
    }
    return held;
  }
};

class RowsSwapped : public KvCache {
 public:
  using KvCache::KvCache;
  Held append(int64_t n, const at::Tensor& k, const at::Tensor& v) override {
    Held held = KvCache::append(n, k, v);
    if (k.size(0) > 1 && held.k.size(2) > k.size(2)) {
      held.k = at::roll(held.k, {1}, {0});
    }
    return held;
  }
};

// Queries of cached chunks see all keys in layers that have a window.
CacheUse window_lost() {
  CacheUse use;
  use.make = [](const PositionPlan& plan) {
    return std::make_unique<KvCache>(static_cast<int64_t>(plan.layers.size()));
  };
  use.decoder = [](const model::Transformer& model) {
    PositionPlan plan = model.plan();
    for (position::LayerPlan& layer : plan.layers) {
      layer.mask = {};
    }
    return model.with_plan(plan);
  };
  return use;
}

}  // namespace

CacheUse sound_cache_use() {
  return {[](const PositionPlan& plan) { return std::make_unique<KvCache>(plan); },
          [](const model::Transformer& model) { return model; }};
}

const std::vector<CacheFault>& cache_faults() {
  constexpr bool kWindow = true, kRotation = true;
  static const std::vector<CacheFault> list = {
      {"cache-position", "the next token gets the last one's position (P36)", false, kRotation,
       use_of<LatePosition>},
      {"cache-chunk-reset", "each chunk's positions begin at 0 (transformers#43082)", false,
       kRotation, use_of<ChunksFromZero>},
      {"cache-offset-twice", "a chunk's offset is added twice (P15)", false, kRotation,
       use_of<OffsetTwice>},
      {"cache-padding-gap", "positions of padded rows jump after the prompt (unsloth#3699)", false,
       kRotation, use_of<PaddingGap>},
      {kShownByAll, "padded rows attend to their padding (P39)", false, false, use_of<PaddingSeen>},
      {"cache-first-hidden", "padded rows lose their first token (P39)", false, false,
       use_of<FirstTokenHidden>},
      {"cache-window-short", "a window loses its oldest key (P37, transformers#39408)", kWindow,
       false, use_of<ShortWindow>},
      {"cache-window-lost", "windows are forgotten once there is a cache (P37)", kWindow, false,
       window_lost},
      {"cache-stale", "keys of tokens taken back stay (mlx-vlm#1715)", false, false,
       use_of<StaleAfterRollback>},
      {"cache-last-lost", "the token before a chunk is written over (P15)", false, false,
       use_of<LastKeyLost>},
      {"cache-values-shifted", "values lie one token beside their keys (P55)", false, false,
       use_of<ValuesShifted>},
      {"cache-rows-swapped", "rows of a batch read each other's keys (P39)", false, false,
       use_of<RowsSwapped>}};
  return list;
}

Showing shows(const CacheFault& fault, const PositionPlan& plan) {
  int64_t shortest = 0;
  bool rotation = false;
  for (const position::LayerPlan& layer : plan.layers) {
    if (layer.mask.window > 1) {
      shortest = shortest == 0 ? layer.mask.window : std::min(shortest, layer.mask.window);
    }
    rotation = rotation || !layer.inv_freq.empty();
  }
  return {(shortest > 0 || !fault.needs_window) && (rotation || !fault.needs_rotation),
          fault.needs_window ? shortest : 0};
}

CacheUse faulty_cache_use(const std::string& name, const model::Transformer& model,
                          int64_t n_tokens) {
  std::vector<std::string> names;
  for (const CacheFault& fault : cache_faults()) {
    names.push_back(fault.name);
    if (fault.name != name) {
      continue;
    }
    const Showing showing = shows(fault, model.plan());
    if (showing.possible && !showing.in(n_tokens)) {
      throw Error(Code::Usage, "verify: ", n_tokens, " tokens cannot show the fault ", name,
                  ": the shortest window is ", showing.more_than, "; give --tokens ",
                  showing.more_than + 1, " or more");
    }
    if (!showing.possible) {
      throw Error(Code::Usage, "verify: this model cannot show the fault ", name,
                  ": no layer has a ", fault.needs_window ? "window" : "rotation", "; try ",
                  kShownByAll);
    }
    return fault.use();
  }
  const std::string near = nearest_name(name, names);
  throw Error(Code::Usage, "--fault ", name, ": no such fault of a cache",
              near.empty() ? "; gyre verify --list names them" : "; did you mean " + near + "?");
}

}  // namespace gyre::verify

// Keys and values of the tokens seen so far, one entry per layer, rotated keys.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <vector>

#include "gyre/position/plan.h"

namespace gyre::model {

/// Continues a sequence chunk by chunk (inference only). Buffers grow by half; a copy shares them
/// until either side writes. Virtual where a known fault can be put in (gyre verify).
class KvCache {
 public:
  /// Keeps every key; windows are masks over them.
  explicit KvCache(int64_t n_layers) : layers_(static_cast<size_t>(n_layers)) {}
  /// Layers with a plain window keep what the next token can see and `slack` tokens before it, so
  /// that as many tokens can be taken back.
  explicit KvCache(const position::PositionPlan& plan, int64_t slack = 256);
  virtual ~KvCache() = default;
  KvCache(const KvCache&) = default;
  KvCache& operator=(const KvCache&) = default;

  /// Number of tokens seen, leading padding included.
  int64_t length() const { return length_; }
  /// Position of the next token.
  virtual int64_t next_position() const { return length_; }

  struct Held {
    at::Tensor k, v;    // [B, G, S, D], a view: the keys that some query of this call may see
    int64_t first = 0;  // index of its first key among all tokens seen
  };
  /// Appends k, v [B, G, T, D] to layer n. The tokens count once the last layer has them.
  virtual Held append(int64_t n, const at::Tensor& k, const at::Tensor& v);

  /// Tokens before each row's first real one, [B] int64; undefined = none. Set before the first
  /// tokens.
  /// throws c10::ValueError when tokens are held already
  void set_padding(const at::Tensor& padding_B);
  bool padded() const { return padding_B_.defined(); }
  /// First key that each query of this call may see, counted from held.first, [B, T]; undefined
  /// when no row is padded.
  virtual at::Tensor first_key(const Held& held, int64_t n_queries) const;

  /// Forgets every token from `length` on, as after a rejected draft; what is left is what a fresh
  /// run of `length` tokens holds.
  /// throws c10::ValueError when fewer tokens are held, or a window has dropped keys that are
  /// needed again
  virtual void truncate(int64_t length);
  /// Called before keys rotated by these layers are appended.
  /// throws c10::ValueError when the tokens held were rotated by others
  void use_plan(const std::vector<position::LayerPlan>& layers);

  /// Memory of all buffers, bytes.
  int64_t n_bytes() const;

 private:
  struct Buffer {
    at::Tensor k, v;  // [B, G, capacity, D]
  };
  struct Layer {
    std::shared_ptr<Buffer> buffer;
    int64_t first = 0, length = 0;  // index of the first key held, number of tokens seen
    int64_t reach = 0;              // keys that one query may see, itself included; 0 = all
  };
  std::vector<Layer> layers_;
  int64_t length_ = 0, slack_ = 0;
  at::Tensor padding_B_;
  std::shared_ptr<const std::vector<position::LayerPlan>> plan_;  // of the tokens held

  void make_room(Layer& layer, const at::Tensor& k) const;
};

}  // namespace gyre::model

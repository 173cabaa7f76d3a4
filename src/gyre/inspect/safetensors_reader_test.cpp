// What a bare safetensors header tells and what it leaves open.
#include <gtest/gtest.h>

#include <cmath>

#include "gyre/base/error.h"
#include "gyre/inspect/header_readers.h"
#include "gyre/tensor/gguf_testing.h"
#include "gyre/tensor/safetensors_testing.h"

namespace gyre::inspect {
namespace {

/// Tensors one after another; data of those not given is zeros.
class Builder {
 public:
  Builder& add(const std::string& name, const std::string& dtype, const std::vector<int64_t>& shape,
               const std::string& data = "") {
    uint64_t bytes = tensor::safetensors_type_bits(dtype) / 8;
    std::string sizes;
    for (const int64_t size : shape) {
      bytes *= static_cast<uint64_t>(size);
      sizes += (sizes.empty() ? "" : ",") + str(size);
    }
    header_ +=
        str(header_.empty() ? "" : ",", "\"", name, R"(":{"dtype":")", dtype, R"(","shape":[)",
            sizes, R"(],"data_offsets":[)", data_.size(), ",", data_.size() + bytes, "]}");
    data_ += data.empty() ? std::string(bytes, '\0') : data;
    return *this;
  }
  Builder& floats(const std::string& name, const std::vector<float>& values) {
    std::string bytes;
    for (const float each : values) {
      bytes += tensor::raw_bytes(each);
    }
    return add(name, "F32", {static_cast<int64_t>(values.size())}, bytes);
  }
  ResolvedModel resolve() const {
    const std::string bytes = tensor::safetensors_bytes("{" + header_ + "}", data_);
    return resolve_safetensors(tensor::header_of(bytes), "m.safetensors");
  }

 private:
  std::string header_, data_;
};

std::vector<float> geometric(double base, size_t n_pairs) {
  std::vector<float> out;
  for (size_t m = 0; m < n_pairs; ++m) {
    out.push_back(static_cast<float>(std::pow(base, -double(m) / double(n_pairs))));
  }
  return out;
}

std::string value(const ResolvedModel& model, const std::string& field) {
  for (const Provenance& each : model.origins) {
    if (each.field == field) {
      return each.value;
    }
  }
  return "?";
}

TEST(SafetensorsReader, ShapesGiveLayersWidthAndHeads) {
  Builder builder;
  for (int n = 0; n < 3; ++n) {
    const std::string layer = str("model.layers.", n, ".self_attn.");
    builder.add(layer + "q_proj.weight", "BF16", {512, 256})
        .add(layer + "k_proj.weight", "BF16", {128, 256})
        .add(layer + "q_norm.weight", "BF16", {64});
  }
  const ResolvedModel model = builder.resolve();
  EXPECT_EQ(model.source, SourceKind::Safetensors);
  EXPECT_EQ(model.n_layers, 3);
  EXPECT_EQ(model.hidden, 256);
  EXPECT_EQ(model.dtype, "BF16");
  EXPECT_EQ(value(model, "head dim"), "64");
  EXPECT_EQ(value(model, "heads"), "8 over 2");
  EXPECT_TRUE(model.kinds.empty());
  EXPECT_EQ(value(model, "base, scaling, pair layout"), "unknown");
  EXPECT_EQ(value(model, "window, lengths"), "unknown");
}

TEST(SafetensorsReader, StatesAnUnknownHeadDim) {
  const ResolvedModel model =
      Builder()
          .add("model.layers.0.self_attn.q_proj.weight", "F8_E4M3", {512, 256})
          .add("model.layers.0.self_attn.k_proj.weight", "F8_E4M3", {128, 256})
          // OLMo 2 norms all heads together.
          .add("model.layers.0.self_attn.q_norm.weight", "BF16", {512})
          .resolve();
  EXPECT_EQ(model.dtype, "F8_E4M3");
  EXPECT_EQ(value(model, "head dim"), "unknown");
  EXPECT_EQ(value(model, "heads per key/value head"), "4");
}

TEST(SafetensorsReader, ReadsStoredFrequencies) {
  const ResolvedModel model =
      Builder()
          .floats("model.layers.0.self_attn.rotary_emb.inv_freq", geometric(1e4, 64))
          .floats("model.layers.1.self_attn.rotary_emb.inv_freq", geometric(1e4, 64))
          .resolve();
  EXPECT_EQ(model.tables.size(), 2U);
  ASSERT_EQ(model.kinds.size(), 1U);
  const LayerKind& kind = model.kinds[0];
  EXPECT_EQ(kind.name, "all");
  EXPECT_EQ(kind.layers, (std::vector<int64_t>{0, 1}));
  EXPECT_EQ(kind.rotary_dim, 128);
  EXPECT_EQ(kind.base, 10000.0);
  EXPECT_EQ(kind.plan.inv_freq[0].size(), 64U);
  EXPECT_EQ(kind.origins.back().origin.kind, OriginKind::Assumed);  // layout
}

TEST(SafetensorsReader, TellsTablesApartAndRefusesBrokenOnes) {
  std::vector<float> broken = geometric(1e4, 8);
  broken[3] = NAN;
  const ResolvedModel model =
      Builder()
          .floats("layers.0.attention.rotary_emb.inv_freq", geometric(1e4, 8))
          .floats("layers.1.attention.rotary_emb.inv_freq", geometric(1e6, 8))
          .floats("layers.2.attention.rotary_emb.inv_freq", {1.0F, 0.9F, 0.1F, 0.0F})
          .floats("layers.3.attention.rotary_emb.inv_freq", broken)
          .resolve();
  ASSERT_EQ(model.kinds.size(), 3U);
  EXPECT_EQ(model.kinds[1].base, 1e6);
  EXPECT_EQ(model.kinds[2].base, 0.0);
  EXPECT_EQ(model.tables.size(), 4U);  // lint sees the broken one too
  EXPECT_EQ(model.ignored.at(0).reason, "empty, negative or not finite");
}

// Found by fuzzing: one layer was in two kinds.
TEST(SafetensorsReader, ALayerHasOneTable) {
  const ResolvedModel model = Builder()
                                  .floats("rotary_emb.inv_freq", geometric(1e4, 4))
                                  .floats("layers.1.rotary_emb.inv_freq", geometric(1e6, 4))
                                  .floats("layers.1.old.inv_freq", geometric(1e5, 4))
                                  .resolve();
  ASSERT_EQ(model.kinds.size(), 2U);
  EXPECT_EQ(model.kinds[0].layers, std::vector<int64_t>{0});
  EXPECT_EQ(model.kinds[1].layers, std::vector<int64_t>{1});
  EXPECT_EQ(model.ignored.at(0).reason, "layer 1 has another table already");
}

TEST(SafetensorsReader, SaysWhenItIsOneOfSeveralFiles) {
  const ResolvedModel model = Builder()
                                  .add("model.layers.30.mlp.up_proj.weight", "F16", {4, 4})
                                  .add("model.layers.31.mlp.up_proj.weight", "F16", {4, 4})
                                  .resolve();
  EXPECT_EQ(model.n_layers, 32);
  EXPECT_EQ(value(model, "layers"), "at least 32");
}

TEST(SafetensorsReader, SeesLearnedPositions) {
  const ResolvedModel model = Builder()
                                  .add("wpe.weight", "F32", {1024, 8})
                                  .add("h.0.attn.c_attn.weight", "F32", {8, 24})
                                  .resolve();
  EXPECT_EQ(model.max_length, 1024);
  EXPECT_EQ(model.n_layers, 1);
  EXPECT_EQ(value(model, "positions"), "a learned table of 1024 rows");
}

TEST(SafetensorsReader, AnEmptyHeaderIsAModelOfNothing) {
  const ResolvedModel model = Builder().resolve();
  EXPECT_EQ(model.n_layers, 0);
  EXPECT_EQ(value(model, "layers"), "unknown");
}

}  // namespace
}  // namespace gyre::inspect

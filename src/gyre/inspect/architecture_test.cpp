// The data file of model families: names are unique, every default resolves, rope types exist.
#include "gyre/inspect/architecture.h"

#include <gtest/gtest.h>

#include <set>

#include "gyre/inspect/test_models.h"
#include "gyre/position/scheme.h"

namespace gyre::inspect {
namespace {

TEST(Architectures, EveryModelTypeHasOneEntry) {
  std::set<std::string> names;
  for (const Architecture& one : architectures()) {
    EXPECT_FALSE(one.model_types.empty());
    EXPECT_FALSE(one.reader.empty());
    for (const std::string& name : one.model_types) {
      EXPECT_TRUE(names.insert(name).second) << name << " stands twice";
    }
  }
  EXPECT_EQ(find_architecture("no_such_model"), nullptr);
}

// No default: a family that rotates says which channels form a pair.
TEST(Architectures, EveryRotatingFamilyStatesItsPairLayout) {
  for (const Architecture& one : architectures()) {
    if (one.encoding == Encoding::Rotary) {
      EXPECT_NE(one.layout, position::PairLayout::Unstated) << one.reader;
    }
  }
  EXPECT_EQ(unknown_architecture().layout, position::PairLayout::Unstated);
}

TEST(Architectures, EveryClassResolvesFromItsDefaults) {
  for (const Architecture& one : architectures()) {
    for (const std::string& name : one.model_types) {
      const ResolvedModel model = testing::from_text(R"({"model_type": ")" + name + "\"}");
      EXPECT_TRUE(model.known_type) << name;
      EXPECT_TRUE(model.ignored.empty()) << name << ": " << model.ignored[0].reason;
      int64_t n_layers = 0;
      for (const LayerKind& kind : model.kinds) {
        n_layers += static_cast<int64_t>(kind.layers.size());
        EXPECT_GT(kind.head_dim, 0) << name;
        EXPECT_NO_THROW(position::make_scheme(kind.spec)) << kind.spec;
      }
      EXPECT_EQ(n_layers, model.n_layers) << name;
    }
  }
}

TEST(Architectures, EveryRopeTypeNamesAScheme) {
  std::set<std::string> schemes;
  for (const position::SchemeInfo& info : position::schemes()) {
    schemes.insert(info.name);
  }
  for (const RopeType& type : rope_type_list()) {
    EXPECT_EQ(schemes.count(type.scheme), 1u) << type.name;
  }
}

// The spec rebuilds the plan, masks and corrections apart.
TEST(Architectures, TheSpecRebuildsTheTable) {
  for (const char* name : {"phi-4-mini.json", "gpt-oss-20b.json", "gemma-4.json", "smollm3.json",
                           "llama-3.1-8b.json", "deepseek-v3.json"}) {
    const ResolvedModel model = testing::fixture(name);
    for (const LayerKind& kind : model.kinds) {
      const auto plan =
          position::make_scheme(kind.spec)->plan({.n_heads = kind.n_heads,
                                                  .n_kv_heads = kind.n_kv_heads,
                                                  .head_dim = kind.head_dim,
                                                  .train_length = model.original_length});
      EXPECT_EQ(plan.layers[0].inv_freq, kind.plan.inv_freq) << name << " " << kind.name;
      EXPECT_EQ(plan.layers[0].amplitude, kind.plan.amplitude) << name;
      EXPECT_EQ(plan.layers[0].logit_scale, kind.plan.logit_scale) << name;
    }
  }
}

}  // namespace
}  // namespace gyre::inspect

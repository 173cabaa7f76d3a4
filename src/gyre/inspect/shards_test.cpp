// Folders with weights in several files: the index, missing shards, heads against tensor shapes.
#include "gyre/inspect/shards.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "gyre/inspect/lint/rule.h"
#include "gyre/inspect/test_models.h"
#include "gyre/tensor/safetensors_testing.h"

namespace gyre::inspect {
namespace {

namespace fs = std::filesystem;

class Shards : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
    folder = fs::temp_directory_path() / str("gyre_shards_", ::getpid(), "_", info->name());
    fs::create_directories(folder);
    shard("a.safetensors", 0);
    shard("b.safetensors", 1);
    index("a.safetensors", "b.safetensors");
  }
  void TearDown() override { fs::remove_all(folder); }

  // One k_proj of 2 heads of 4 channels.
  void shard(const std::string& name, int layer) {
    write_file_atomic(
        folder / name,
        tensor::safetensors_bytes(str("{\"model.layers.", layer,
                                      R"(.self_attn.k_proj.weight":{"dtype":"F16","shape":[8,16],)"
                                      R"("data_offsets":[0,256]}})"),
                                  std::string(256, '\0')));
  }
  void index(const std::string& a, const std::string& b) {
    write_file_atomic(folder / "model.safetensors.index.json",
                      R"({"weight_map": {"x": ")" + a + R"(", "y": ")" + b + "\"}}");
  }
  void config(int kv_heads) {
    write_file_atomic(folder / "config.json",
                      str(R"({"model_type": "llama", "hidden_size": 16, "num_hidden_layers": 2,
                              "num_attention_heads": 4, "num_key_value_heads": )",
                          kv_heads, "}"));
  }
  const Finding* doubt(const ResolvedModel& model, const std::string& id) {
    for (const Finding& one : model.doubts) {
      if (one.id == id) {
        return &one;
      }
    }
    return nullptr;
  }
  fs::path folder;
};

TEST_F(Shards, LayersOfAllFilesAreCounted) {
  const ResolvedModel model = resolve(folder);
  EXPECT_EQ(model.n_layers, 2);
  EXPECT_EQ(model.source, SourceKind::Folder);
  EXPECT_TRUE(model.doubts.empty());
}

// The first file of a sharded model often holds the embedding alone; heads and tables follow.
TEST_F(Shards, HeadsAndTablesOfLaterFilesAreRead) {
  const auto tensors = [&](const std::string& name, const std::string& list, size_t n_bytes) {
    write_file_atomic(folder / name,
                      tensor::safetensors_bytes("{" + list + "}", std::string(n_bytes, '\0')));
  };
  tensors("a.safetensors",
          R"("model.embed_tokens.weight":{"dtype":"F16","shape":[4,16],"data_offsets":[0,128]})",
          128);
  tensors("b.safetensors",
          R"("model.layers.0.self_attn.q_norm.weight":{"dtype":"F16","shape":[4],)"
          R"("data_offsets":[0,8]},)"
          R"("model.layers.0.self_attn.q_proj.weight":{"dtype":"F16","shape":[16,16],)"
          R"("data_offsets":[8,520]},)"
          R"("model.layers.0.self_attn.rotary_emb.inv_freq":{"dtype":"F32","shape":[2],)"
          R"("data_offsets":[520,528]})",
          528);
  const ResolvedModel model = resolve(folder);
  EXPECT_EQ(model.hidden, 16);
  EXPECT_EQ(model.n_layers, 1);
  ASSERT_EQ(model.kinds.size(), 1u);
  EXPECT_EQ(model.kinds[0].head_dim, 4);
  EXPECT_EQ(model.kinds[0].n_heads, 4);
  ASSERT_EQ(model.tables.size(), 1u);
  EXPECT_EQ(model.tables[0].name, "model.layers.0.self_attn.rotary_emb.inv_freq");
  for (const Provenance& one : model.origins) {
    if (one.field == "layers") {
      EXPECT_EQ(one.origin.where, "names of tensors in 2 files");
    }
  }
}

TEST_F(Shards, TheIndexStandsForItsFolder) {
  config(2);
  EXPECT_EQ(resolve(folder / "model.safetensors.index.json").model_type, "llama");
}

TEST_F(Shards, MissingAndForeignShardsAreErrors) {
  config(2);
  index("a.safetensors", "gone.safetensors");
  const ResolvedModel missing = resolve(folder);
  const Finding* found = doubt(missing, "shard-missing");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->severity, Severity::Error);
  EXPECT_EQ(found->message, "the index names 'gone.safetensors', which is not in the folder");
  EXPECT_EQ(lint(missing).at(0).id, "shard-missing");

  index("a.safetensors", "../../etc/passwd");
  const ResolvedModel foreign = resolve(folder);
  found = doubt(foreign, "shard-outside");
  ASSERT_NE(found, nullptr);
  EXPECT_NE(found->message.find("'../../etc/passwd'; a shard lies in the folder itself"),
            std::string::npos);
}

TEST_F(Shards, KeyHeadsOfTheConfigAreCheckedAgainstTheTensor) {
  config(2);
  EXPECT_TRUE(resolve(folder).doubts.empty());
  config(1);
  const ResolvedModel model = resolve(folder);
  const Finding* found = doubt(model, "weights-kv-heads");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->message, "the config says 1 key/value heads of 4 = 4 rows, the tensor has 8");
  EXPECT_EQ(model.doubts.size(), 1u);  // once, not for every layer
}

}  // namespace
}  // namespace gyre::inspect

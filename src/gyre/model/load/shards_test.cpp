// Checkpoints in several files: what is read from where, and what a broken set of shards says.
#include <ATen/ops/equal.h>

#include "gyre/model/load/load_testing.h"

namespace gyre::model {
namespace {

using tensor::NamedTensors;

class LoadShards : public LoadTest {
 protected:
  /// Two shards and their index; tensor k lies in shard 1 + k % 2.
  LoadShards() : tiny_(tiny_case("llama")) {
    write_file_atomic(folder_ / "config.json", tiny_.at("config").dump());
    size_t k = 0;
    for (const auto& [name, value] : tiny_tensors(tiny_)) {
      map_[name] = name_of(k % 2);
      shards_[k++ % 2].emplace_back(name, value);
    }
    write();
  }
  static std::string name_of(size_t i) { return str("model-0000", i + 1, "-of-00002.safetensors"); }
  void write() const {
    for (size_t i = 0; i < 2; ++i) {
      tensor::write_safetensors(folder_ / name_of(i), shards_[i]);
    }
    write_file_atomic(folder_ / "model.safetensors.index.json", Json{{"weight_map", map_}}.dump());
  }
  std::string fault() const {
    return message_of([&] { load_model(folder_); });
  }
  Json tiny_, map_;
  NamedTensors shards_[2];
};

TEST_F(LoadShards, ReadsEachTensorFromItsShard) {
  const LoadedModel model = load_model(folder_);
  for (const auto& [ours, theirs] :
       {std::pair("blocks.2.mlp.down", "model.layers.2.mlp.down_proj"),
        std::pair("blocks.0.attention.out", "model.layers.0.self_attn.o_proj")}) {
    const at::Tensor value = model.weights->load(std::string(ours) + ".weight");
    EXPECT_TRUE(
        at::equal(value, tiny_weight(std::string(theirs) + ".weight", value.sizes().vec(), 1.0F)));
  }
}

TEST_F(LoadShards, ReadsShardsWithoutAnIndexToo) {
  std::filesystem::remove(folder_ / "model.safetensors.index.json");
  EXPECT_EQ(load_model(folder_).config.layers, 3);
}

TEST_F(LoadShards, AMissingShardIsNamed) {
  std::filesystem::remove(folder_ / name_of(1));
  EXPECT_EQ(fault(),
            "DIR: shard model-00002-of-00002.safetensors is missing; model.safetensors.index.json "
            "names it, fetch it");
}

TEST_F(LoadShards, AShardCutShortIsNamed) {
  const std::string bytes = read_file(folder_ / name_of(1));
  write_file_atomic(folder_ / name_of(1), bytes.substr(0, bytes.size() - 100));
  const std::string text = fault();
  EXPECT_TRUE(text.starts_with("DIR/model-00002-of-00002.safetensors: tensor ")) << text;
  EXPECT_NE(text.find(" lies outside the file's "), std::string::npos) << text;
  EXPECT_EQ(text.find('\n'), std::string::npos);
  write_file_atomic(folder_ / name_of(1), "");
  EXPECT_EQ(fault(), "DIR/model-00002-of-00002.safetensors: 0 bytes is too short for safetensors");
}

TEST_F(LoadShards, AnIndexThatDoesNotFitTheShardsIsNamed) {
  const std::string head = "lm_head.weight";
  const std::string right = map_[head];
  map_[head] = right == name_of(0) ? name_of(1) : name_of(0);
  write();
  EXPECT_EQ(fault(), str("DIR/", map_[head].get<std::string>(), ": tensor lm_head.weight is in ",
                         right, "; model.safetensors.index.json says that this shard holds it"));
  map_[head] = right;
  map_["extra"] = right;
  write();
  EXPECT_EQ(fault(), str("DIR/", right,
                         ": tensor extra is missing; model.safetensors.index.json says that this "
                         "shard holds it"));
  map_.erase("extra");
  map_[head] = "../model.safetensors";
  write();
  EXPECT_EQ(fault(),
            "DIR/model.safetensors.index.json: tensor lm_head.weight is in '../model.safetensors', "
            "expected the name of a file of the same folder");
  map_[head] = nullptr;
  write();
  EXPECT_EQ(fault(),
            "DIR/model.safetensors.index.json: tensor lm_head.weight is in null, expected the name "
            "of a file of the same folder");
  map_[head] = std::string("a\0b.safetensors", 15);
  write();
  EXPECT_EQ(fault(),
            "DIR/model.safetensors.index.json: tensor lm_head.weight is in 'a\\x00b.safetensors', "
            "expected the name of a file of the same folder");
  write_file_atomic(folder_ / "model.safetensors.index.json", std::string(100000, '['));
  EXPECT_EQ(fault(), "DIR/model.safetensors.index.json: nested deeper than 64 levels");
  write_file_atomic(folder_ / "model.safetensors.index.json", "{\"weight_map\": {}}");
  EXPECT_EQ(fault(), "DIR/model.safetensors.index.json: the weight_map names no tensor");
}

TEST_F(LoadShards, ATensorInTwoShardsIsNamed) {
  const auto twice = shards_[0].back();
  shards_[1].push_back(twice);
  write();
  EXPECT_EQ(fault(), str("DIR/model-00002-of-00002.safetensors: tensor ", twice.first,
                         " is also in DIR/model-00001-of-00002.safetensors; remove the file that "
                         "is not of this checkpoint"));
}

}  // namespace
}  // namespace gyre::model

// What a path is, decided by content; folders; hostile files. The readers of headers have their own
// tests.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gyre/inspect/test_models.h"

namespace gyre::inspect {
namespace {

namespace fs = std::filesystem;

class Resolve : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
    dir_ = fs::temp_directory_path() / str("gyre-resolve-", ::getpid(), "-", info->name());
    fs::create_directories(dir_);
  }
  void TearDown() override { fs::remove_all(dir_); }

  std::string put(const std::string& name, const std::string& bytes) {
    write_file_atomic(dir_ / name, bytes);
    return (dir_ / name).string();
  }
  // The message without the folder's name.
  std::string fault(const fs::path& path, Code code) {
    try {
      resolve(path);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), code) << error.what();
      std::string text = error.what();
      EXPECT_EQ(text.find('\n'), std::string::npos) << text;
      const size_t at = text.find(dir_.string());
      return at == std::string::npos ? text : text.replace(at, dir_.string().size(), "DIR");
    }
    return "";
  }

  fs::path dir_;
};

TEST_F(Resolve, AFolderAndAFileGiveTheSameModel) {
  const std::string file = put("config.json", read_file(testing::fixture_path("smollm3.json")));
  const ResolvedModel a = resolve(file), b = resolve(dir_);
  EXPECT_EQ(a.source, SourceKind::Config);
  EXPECT_EQ(b.source, SourceKind::Folder);
  EXPECT_EQ(b.path, dir_.string());
  ASSERT_EQ(a.kinds.size(), b.kinds.size());
  EXPECT_EQ(a.kinds[0].plan, b.kinds[0].plan);
}

TEST_F(Resolve, ContentDecidesNotTheName) {
  EXPECT_EQ(resolve(put("model.gguf", R"({"model_type": "llama"})")).model_type, "llama");
}

TEST_F(Resolve, WeightsThatCannotBeReadAreListed) {
  put("config.json", R"({"model_type": "llama"})");
  put("model.safetensors", "version https://git-lfs.github.com/spec/v1\n");
  const ResolvedModel model = resolve(dir_);
  EXPECT_EQ(testing::ignored_reason(model, "model.safetensors").substr(0, 10), "not read: ");
}

TEST_F(Resolve, PathsThatCannotBeRead) {
  EXPECT_EQ(fault(dir_ / "none", Code::File), "DIR/none: no such file or folder");
  EXPECT_EQ(fault(dir_, Code::Format),
            "DIR: no config.json, manifest.json, .gguf or .safetensors file in this folder");
  const fs::path pipe = dir_ / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(fault(pipe, Code::File), "DIR/pipe: neither a regular file nor a folder");
  put("config.json", "");
  EXPECT_EQ(fault(dir_, Code::Format), "DIR/config.json: the file is empty");
  fs::create_symlink(dir_ / "loop", dir_ / "loop");
  EXPECT_NE(fault(dir_ / "loop", Code::File), "");
}

TEST_F(Resolve, FilesThatAreNoModel) {
  EXPECT_EQ(fault(put("x", "hello world, no JSON"), Code::Format),
            "DIR/x: neither a JSON config nor a safetensors or GGUF file");
  EXPECT_EQ(fault(put("y", R"({"a": 1})"), Code::Format),
            "DIR/y: no model's config; none of model_type, hidden_size, num_attention_heads, "
            "rope_parameters, rope_scaling is there");
  EXPECT_EQ(fault(put("z", R"({"model_type": "llama")"), Code::Format),
            "DIR/z: the JSON text ends inside a value at line 1; the file is truncated");
  EXPECT_NE(fault(put("short.gguf", "GGUF"), Code::Format), "");
  EXPECT_NE(fault(put("short.safetensors", std::string("\xff\xff\0\0\0\0\0\0{", 9)), Code::Format),
            "");
  put("a.gguf", "GGUF");
  put("b.gguf", "GGUF");
  EXPECT_EQ(fault(dir_, Code::Format).substr(0, 45),
            "DIR: 3 GGUF files and no config.json; name on");
}

TEST_F(Resolve, SizesThatNoModelHas) {
  const auto config = [&](const std::string& more) {
    return fault(put("c", R"({"model_type": "llama", )" + more + "}"), Code::Format);
  };
  EXPECT_EQ(config(R"("head_dim": 1000000000000000000)"),
            "DIR/c: head_dim must be a whole number from 1 to 65536, got 1e+18");
  EXPECT_EQ(config(R"("head_dim": -64)"),
            "DIR/c: head_dim must be a whole number from 1 to 65536, got -64");
  EXPECT_EQ(config(R"("num_hidden_layers": 1e9)"),
            "DIR/c: num_hidden_layers must be a whole number from 1 to 100000, got 1000000000");
  EXPECT_EQ(config(R"("num_attention_heads": NaN)"),
            "DIR/c: num_attention_heads must be a whole number from 1 to 1048576, got nan");
  EXPECT_EQ(config(R"("hidden_size": 0.5)"),
            "DIR/c: hidden_size must be a whole number from 1 to 1099511627776, got 0.5");
  EXPECT_EQ(config(R"("hidden_size": "big")"),
            "DIR/c: hidden_size must be a number, found text (big)");
  EXPECT_EQ(config(R"("hidden_size": 1, "num_attention_heads": 32)"),
            "DIR/c: cannot tell the head dim; found head_dim 0, hidden size 1, attention heads 32");
}

TEST_F(Resolve, ListsOfAnotherLength) {
  const std::string start = R"({"model_type": "smollm3", "num_hidden_layers": 4, )";
  EXPECT_EQ(fault(put("c", start + R"("no_rope_layers": [1, 0]})"), Code::Format),
            "DIR/c: no_rope_layers has 2 entries, the model has 4 layers");
  EXPECT_EQ(fault(put("c", start + R"("layer_types": ["full_attention"]})"), Code::Format),
            "DIR/c: layer_types has 1 entries, the model has 4 layers");
}

// Lint names these; resolution must neither stop nor invent a table.
TEST_F(Resolve, BrokenRopeSettingsStillResolve) {
  for (const char* more :
       {R"("rope_theta": NaN)", R"("rope_theta": -1)", R"("rope_theta": "10000")",
        R"("rope_theta": 0)", R"("rope_scaling": {"type": 3, "factor": []})",
        R"("rope_scaling": {"type": "yarn", "factor": Infinity})",
        R"("rope_scaling": {"type": "longrope", "short_factor": [1], "long_factor": [0]})",
        R"("rope_scaling": {"type": "dynamic", "factor": 1e300})",
        R"("rope_scaling": {"type": "yarn", "factor": 4, "original_max_position_embeddings": -5})",
        R"("rope_parameters": [1, 2])", R"("partial_rotary_factor": -3)",
        R"("rope_parameters": {"full_attention": 3})",
        R"("rope_parameters": {"full_attention": {}})", R"("head_dim": 7)"}) {
    const ResolvedModel model =
        resolve(put("c", std::string(R"({"model_type": "llama", )") + more + "}"));
    EXPECT_EQ(model.kinds.size(), 1u) << more;
    EXPECT_FALSE(describe(model, {}).empty());
    EXPECT_FALSE(to_json(model, {}).empty());
  }
}

}  // namespace
}  // namespace gyre::inspect

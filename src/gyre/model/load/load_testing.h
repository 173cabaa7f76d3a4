// Tiny checkpoints for tests: testdata/NAME.json holds config, tensor names and what transformers
// computed; weights come from the formula of testing/peers/tiny_models.py.
#pragma once

#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "gyre/base/error.h"
#include "gyre/base/files.h"
#include "gyre/model/load/load.h"
#include "gyre/tensor/gguf_testing.h"
#include "gyre/tensor/safetensors.h"

namespace gyre::model {

using Json = nlohmann::ordered_json;

/// A folder of this test's own.
class LoadTest : public ::testing::Test {
 protected:
  LoadTest()
      : folder_(std::filesystem::temp_directory_path() /
                str("gyre-load-", ::getpid(), "-",
                    ::testing::UnitTest::GetInstance()->current_test_info()->name())) {
    std::filesystem::create_directories(folder_);
  }
  ~LoadTest() override { std::filesystem::remove_all(folder_); }

  /// The error's text without the folder's name, wherever it stands.
  std::string message_of(const std::function<void()>& action) const {
    try {
      action();
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Code::Format) << error.what();
      std::string text = error.what();
      for (size_t at = 0; (at = text.find(folder_.string(), at)) != std::string::npos;) {
        text.replace(at, folder_.string().size(), "DIR");
      }
      return text;
    }
    return "no error";
  }

  std::filesystem::path folder_;
};

inline Json tiny_case(const std::string& name) {
  const auto path = std::filesystem::path(GYRE_SOURCE_DIR) / "src/gyre/model/load/testdata";
  return Json::parse(read_file(path / (name + ".json")));
}

/// The formula of testing/peers/tiny_models.py.
inline at::Tensor tiny_weight(const std::string& name, const std::vector<int64_t>& sizes,
                              float norm_offset) {
  uint64_t seed = 0xCBF29CE484222325U;  // FNV-1a
  for (const char c : name) {
    seed = (seed ^ static_cast<unsigned char>(c)) * 0x100000001B3U;
  }
  const bool norm = name.ends_with("norm.weight");
  const float scale = norm                      ? 0.25F
                      : name.ends_with(".bias") ? static_cast<float>(1.0 / 3.0)
                      : name.ends_with("embed_tokens.weight")
                          ? 1.0F
                          : static_cast<float>(2.0 / std::sqrt(static_cast<double>(sizes.back())));
  at::Tensor out = at::empty(sizes, at::kFloat);
  auto* item = out.mutable_data_ptr<float>();
  for (int64_t i = 0; i < out.numel(); ++i) {
    uint64_t z = seed += 0x9E3779B97F4A7C15U;  // splitmix64
    z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
    z ^= z >> 31U;
    const auto u = static_cast<float>(static_cast<double>(z >> 40U) / 8388608.0 - 1.0);
    item[i] = norm ? norm_offset + u * scale : u * scale;
  }
  return out;
}

inline tensor::NamedTensors tiny_tensors(const Json& tiny) {
  tensor::NamedTensors out;
  for (const auto& [name, sizes] : tiny.at("tensors").items()) {
    out.emplace_back(name, tiny_weight(name, sizes.get<std::vector<int64_t>>(),
                                       tiny.at("norm_offset").get<float>()));
  }
  return out;
}

inline void write_checkpoint(const std::filesystem::path& folder, const Json& config,
                             const tensor::NamedTensors& tensors) {
  write_file_atomic(folder / "config.json", config.dump(1));
  tensor::write_safetensors(folder / "model.safetensors", tensors, {{"format", "pt"}});
}

/// A tensor's bytes in a GGUF of F32.
inline void add_tensor(tensor::GgufBuilder& builder, const std::string& name,
                       const at::Tensor& value) {
  const at::Tensor plain = value.contiguous();
  builder.tensor(name, {plain.sizes().rbegin(), plain.sizes().rend()}, 0,
                 {static_cast<const char*>(plain.const_data_ptr()), plain.nbytes()});
}

}  // namespace gyre::model

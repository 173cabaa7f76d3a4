// What the tests of tokenizers share.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "gyre/base/error.h"
#include "gyre/base/files.h"
#include "gyre/model/tokenizer/tokenizer.h"

namespace gyre::model {

using TestJson = nlohmann::json;

inline std::filesystem::path tokenizer_testdata() {
  return std::filesystem::path(GYRE_SOURCE_DIR) / "src/gyre/model/tokenizer/testdata";
}

inline TestJson read_test_json(const std::string& name) {
  return TestJson::parse(read_file(tokenizer_testdata() / name));
}

/// A string of a case: "text", or "hex" where the bytes are no UTF-8.
inline std::string text_of_case(const TestJson& one) {
  if (one.contains("text")) {
    return one.at("text").get<std::string>();
  }
  const auto hex = one.at("hex").get<std::string>();
  std::string bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  }
  return bytes;
}

inline std::string shown(const std::string& text) {
  return TestJson(text).dump(-1, ' ', true, TestJson::error_handler_t::replace);
}

/// How many answers of a peer's file differ; the first ones are shown.
inline int count_differences(const Tokenizer& tokenizer, const TestJson& peer) {
  int n = 0;
  const auto compare = [&](const char* what, const std::string& text, const TestJson& ours,
                           const TestJson& theirs) {
    if (ours != theirs && ++n <= 3) {
      ADD_FAILURE() << what << " of " << shown(text) << "\n  gyre " << ours.dump(-1, ' ', true)
                    << "\n  peer " << theirs.dump(-1, ' ', true);
    }
  };
  for (const TestJson& one : peer.at("cases")) {
    const std::string text = text_of_case(one);
    if (one.contains("ids")) {
      compare("ids", text, tokenizer.encode(text, Specials::Parse), one.at("ids"));
    }
    if (one.contains("plain")) {
      compare("ids as plain text", text, tokenizer.encode(text), one.at("plain"));
    }
    if (one.contains("decoded")) {
      compare("decoding", text, tokenizer.decode(one.at("ids").get<std::vector<int32_t>>()),
              one.at("decoded"));
    }
  }
  return n;
}

/// A folder of its own for each test.
class TokenizerFiles : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
    folder_ = std::filesystem::temp_directory_path() /
              str("gyre-tok-", ::getpid(), "-", info->test_suite_name(), "-", info->name());
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::filesystem::path put(const std::string& name, const std::string& bytes) const {
    std::ofstream(folder_ / name, std::ios::binary | std::ios::trunc) << bytes;
    return folder_ / name;
  }
  /// The message of load_tokenizer, without the path before it.
  static std::string fault_of(const std::filesystem::path& path) {
    try {
      load_tokenizer(path);
    } catch (const Error& error) {
      const std::string text = error.what();
      return text.substr(std::min(text.size(), path.string().size() + 2));
    }
    return "nothing was thrown";
  }

  std::filesystem::path folder_;
};

}  // namespace gyre::model

// A tiny checkpoint with the weights of a formula: what matters is that asking twice, asking after
// another prompt and asking in another order give the same bits.
#include "gyre/accept/local_subject.h"

#include <ATen/Parallel.h>
#include <gtest/gtest.h>

#include <numeric>

#include "gyre/model/load/load_testing.h"

namespace gyre::accept {
namespace {

class LocalSubjectTest : public model::LoadTest {
 protected:
  LocalSubjectTest() {
    at::set_num_threads(1);
    const auto tokenizer =
        std::filesystem::path(GYRE_SOURCE_DIR) / "src/gyre/model/tokenizer/testdata/smollm.json";
    const std::string text = read_file(tokenizer);
    const auto vocab = model::Json::parse(text)["model"]["vocab"].size() + 8;  // added tokens
    model::Json tiny = model::tiny_case("llama");
    tiny["config"]["vocab_size"] = vocab;
    tiny["config"]["max_position_embeddings"] = 256;
    for (auto& [name, sizes] : tiny["tensors"].items()) {
      if (name == "model.embed_tokens.weight" || name == "lm_head.weight") {
        sizes[0] = vocab;
      }
    }
    model::write_checkpoint(folder_, tiny["config"], model::tiny_tensors(tiny));
    write_file_atomic(folder_ / "tokenizer.json", text);
  }

  std::unique_ptr<Subject> open() const {
    return open_local({.model = folder_, .dtype = "fp32", .chunk = 8});
  }

  static Ask ask_of(const std::string& text, int64_t max_tokens = 4) {
    Ask ask;
    ask.api = Api::Completions;
    ask.messages = {{"user", text}};
    ask.max_tokens = max_tokens;
    ask.top_logprobs = 20;
    return ask;
  }
};

constexpr const char* kLong =
    "In the ledger of Oslo, the kettle filed under the baker in May carries code KX7-3QD. And so "
    "on and on it goes, one sentence and another, to the end of the page.";

std::vector<double> scores(const Reply& reply) {
  std::vector<double> out;
  for (const auto& row : reply.top) {
    for (const TokenScore& one : row) {
      out.push_back(one.logprob);
    }
  }
  return out;
}

TEST_F(LocalSubjectTest, AnswersTheSameWhateverWasAskedBefore) {
  const auto subject = open();
  const Reply first = subject->ask(ask_of(kLong));
  EXPECT_EQ(*first.cached_tokens, 0);
  const Reply again = subject->ask(ask_of(kLong));
  EXPECT_GE(*again.cached_tokens, 8);
  EXPECT_EQ(*again.cached_tokens % 8, 0);
  EXPECT_EQ(scores(first), scores(again));
  EXPECT_EQ(first.text, again.text);

  std::string other = kLong;
  other.replace(other.find("page"), 4, "book");
  const Reply after = subject->ask(ask_of(other));
  EXPECT_GE(*after.cached_tokens, 8);
  const Reply alone = open()->ask(ask_of(other));
  EXPECT_EQ(*alone.cached_tokens, 0);
  EXPECT_EQ(scores(after), scores(alone));
  EXPECT_NE(scores(after), scores(first));
}

TEST_F(LocalSubjectTest, SaysWhatItCounted) {
  const auto subject = open();
  const Reply reply = subject->ask(ask_of(kLong, 6));
  EXPECT_TRUE(reply.answered());
  EXPECT_EQ(*reply.prompt_tokens, *subject->count_tokens(kLong));
  EXPECT_EQ(*reply.total_tokens, *reply.prompt_tokens + *reply.completion_tokens);
  EXPECT_TRUE(reply.finish == "length" || reply.finish == "stop") << reply.finish;
  EXPECT_EQ(reply.top.front().size(), 20U);
  EXPECT_GE(reply.top.front()[0].logprob, reply.top.front()[1].logprob);
  EXPECT_GT(*reply.memory_mib, 1.0);
  const Facts facts = subject->discover();
  ASSERT_EQ(facts.claims.size(), 1U);
  EXPECT_EQ(facts.claims[0].tokens, 256);
}

// log p(continuation | prompt) is what echo says of the continuation's tokens: chunks of 8 against
// one step a token, so rounding of float32 sums is between them (measured 4e-6 of 20).
TEST_F(LocalSubjectTest, ScoresWholeContinuations) {
  const auto subject = open();
  Ask ask = ask_of(kLong, 1);
  ask.candidates = {" red kettle", " red", " 7319", " zinc baker"};
  const Reply reply = subject->ask(ask);
  ASSERT_EQ(reply.candidates.size(), 4U);
  for (size_t i = 0; i < ask.candidates.size(); ++i) {
    Ask echo = ask_of(kLong + ask.candidates[i], 1);
    echo.echo = true;
    const Reply told = subject->ask(echo);
    ASSERT_EQ(static_cast<int64_t>(told.prompt_logprobs.size()), *told.prompt_tokens);
    EXPECT_FALSE(told.prompt_logprobs[0].has_value());
    double sum = 0.0;
    for (auto t = static_cast<size_t>(*reply.prompt_tokens); t < told.prompt_logprobs.size(); ++t) {
      sum += *told.prompt_logprobs[t];
    }
    EXPECT_NEAR(*reply.candidates[i], sum, 1e-3) << ask.candidates[i];
  }
  EXPECT_GT(*reply.candidates[1], *reply.candidates[0]);  // a part is likelier than the whole
  EXPECT_EQ(scores(subject->ask(ask)), scores(reply));    // the cache was taken back
}

TEST_F(LocalSubjectTest, RefusesWhatItCannotDo) {
  EXPECT_FALSE(open()->can(Api::Chat));
  try {
    open_local({.model = folder_, .dtype = "half"});
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "--dtype must be fp32 or bf16, got 'half'");
  }
  std::filesystem::remove(folder_ / "tokenizer.json");
  try {
    open();
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("has no tokenizer, and prompts are text"),
              std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace gyre::accept

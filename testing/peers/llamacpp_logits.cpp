// Asks libllama for logits and greedy tokens; llamacpp_parity.py compiles and runs it.
//
//   llamacpp_logits BACKENDS MODEL GREEDY THREADS OUT ID...
//
// BACKENDS: folder of libggml-cpu-*.so. OUT: float32 logits [ids, vocabulary], nothing else. Prints
// the GREEDY ids that follow, each with its lead over the next best. Cache in F32, no flash
// attention, plain CPU buffers: as exact as the library can be.
#include <ggml-backend.h>
#include <llama.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

constexpr int kChunk = 512;

void fail(const std::string& what) {
  std::fprintf(stderr, "llamacpp_logits: %s\n", what.c_str());
  std::exit(3);
}

// Feeds tokens that begin at a position; writes the logits after each when `out` is a file.
const float* feed(llama_context* context, const std::vector<llama_token>& tokens, int position,
                  int vocab, std::FILE* out) {
  llama_batch batch = llama_batch_init(kChunk, 0, 1);
  const float* last = nullptr;
  for (size_t start = 0; start < tokens.size(); start += kChunk) {
    batch.n_tokens = static_cast<int>(std::min<size_t>(kChunk, tokens.size() - start));
    for (int i = 0; i < batch.n_tokens; ++i) {
      batch.token[i] = tokens[start + i];
      batch.pos[i] = position + static_cast<int>(start) + i;
      batch.n_seq_id[i] = 1;
      batch.seq_id[i][0] = 0;
      batch.logits[i] = 1;
    }
    if (llama_decode(context, batch) != 0) {
      fail("llama_decode failed");
    }
    for (int i = 0; i < batch.n_tokens; ++i) {
      last = llama_get_logits_ith(context, i);
      if (out != nullptr && std::fwrite(last, sizeof(float), vocab, out) != size_t(vocab)) {
        fail("cannot write the logits");
      }
    }
  }
  llama_batch_free(batch);
  return last;
}

llama_context* make_context(llama_model* model, int length, int threads) {
  llama_context_params params = llama_context_default_params();
  params.n_ctx = length;
  params.n_batch = params.n_ubatch = kChunk;
  params.n_threads = params.n_threads_batch = threads;
  params.type_k = params.type_v = GGML_TYPE_F32;
  params.flash_attn_type = LLAMA_FLASH_ATTN_TYPE_DISABLED;
  return llama_init_from_model(model, params);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 7) {
    fail("usage: BACKENDS MODEL GREEDY THREADS OUT ID...");
  }
  llama_log_set(
      [](ggml_log_level level, const char* text, void*) {
        if (level == GGML_LOG_LEVEL_ERROR) {
          std::fputs(text, stderr);
        }
      },
      nullptr);
  ggml_backend_load_all_from_path(argv[1]);
  llama_model_params params = llama_model_default_params();
  params.n_gpu_layers = 0;
  params.use_extra_bufts = false;
  llama_model* model = llama_model_load_from_file(argv[2], params);
  if (model == nullptr) {
    fail(std::string("cannot load ") + argv[2]);
  }
  std::vector<llama_token> tokens;
  for (int i = 6; i < argc; ++i) {
    tokens.push_back(std::atoi(argv[i]));
  }
  const int vocab = llama_vocab_n_tokens(llama_model_get_vocab(model));
  const int greedy = std::atoi(argv[3]);
  int position = static_cast<int>(tokens.size());
  llama_context* context = make_context(model, position + greedy, std::atoi(argv[4]));
  std::FILE* out = std::fopen(argv[5], "wb");
  if (context == nullptr || out == nullptr) {
    fail("no context, or the output cannot be written");
  }
  const float* row = feed(context, tokens, 0, vocab, out);
  std::fclose(out);
  for (int i = 0; i < greedy; ++i) {
    const auto best = static_cast<llama_token>(std::max_element(row, row + vocab) - row);
    const float next =
        std::max(best > 0 ? *std::max_element(row, row + best) : -1e30f,
                 best + 1 < vocab ? *std::max_element(row + best + 1, row + vocab) : -1e30f);
    std::printf("%d %g\n", best, static_cast<double>(row[best] - next));
    row = feed(context, {best}, position++, vocab, nullptr);
  }
  llama_free(context);
  llama_model_free(model);
  return 0;
}

// Whether what a checkpoint's keys state fits: each other, the tensors, the family named. A file
// that lies about itself is refused, in words of its own keys.
#pragma once

#include "gyre/model/config.h"
#include "gyre/model/load/config_keys.h"
#include "gyre/model/load/family.h"

namespace gyre::model {

/// What the file holds, whatever its keys say.
struct StoredSizes {
  int64_t embedding_rows = 0;
  std::string down;          // name of the first layer's last matrix
  int64_t down_columns = 0;  // hidden size of the MLP
  int64_t n_tokens = -1;     // entries of the token list; -1 = the file has none
  bool whole_heads = false;  // q and k are stored in an order that only whole heads have
};

/// Error(Format) names the key and what it is at odds with.
void check_stated(const ConfigKeys& keys, const ModelConfig& config, const StoredSizes& stored);

/// "architectures" names the class that wrote a Hugging Face checkpoint. Error(Format) when that is
/// one of another family whose weights mean something else: the tensors' names would not tell.
void check_class(const ConfigKeys& keys, const Family& family);

}  // namespace gyre::model

// What lint rules share: the rope blocks of a config, whichever generation of keys it uses, look-up
// of keys of the language model's part, wording of findings. Rules read a file only through this.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "gyre/base/error.h"
#include "gyre/base/options.h"
#include "gyre/inspect/lint/rule.h"

namespace gyre::inspect {

/// One object of rope settings: "rope_scaling", "rope_parameters", or one layer kind's part of it.
struct RopeBlock {
  std::string path;                 // "text_config.rope_parameters.full_attention"
  std::string scope;                // "text_config.", "" at the top
  std::string kind;                 // "full_attention"; "" = for every layer
  bool parameters = false;          // "rope_parameters", which newer files write
  std::vector<const RawKey*> keys;  // its own scalars and lists
  std::string spelled;              // rope type as written; "" = none
  std::string type;                 // what it resolves to: "yarn" for "deepseek_yarn"

  const RawKey* find(std::string_view name) const;  // null when absent or null
  double number(std::string_view name) const;       // NaN when absent or no number
  std::string at(std::string_view name) const { return path + "." + std::string(name); }
};

/// Every rope block outside vision and audio parts, in file order.
std::vector<RopeBlock> rope_blocks(const ResolvedModel& model);

/// Layer kinds that a block sets and that rotate.
std::vector<const LayerKind*> kinds_of(const ResolvedModel& model, const RopeBlock& block);

/// A key beside the block, or at the top of the file; null when absent or null.
const RawKey* beside(const ResolvedModel& model, const RopeBlock& block, std::string_view name);
/// A key of the language model: "text_config.head_dim", else "head_dim"; null as above.
const RawKey* text_key(const ResolvedModel& model, std::string_view name);
double text_number(const ResolvedModel& model, std::string_view name);  // NaN when absent

/// Training length before extension as the block or the file around it says; NaN when neither does.
double original_length(const ResolvedModel& model, const RopeBlock& block);
/// max_position_embeddings and its older names; NaN when absent.
double max_length(const ResolvedModel& model);
/// A GGUF key of the file's architecture, "rope.scaling.type"; null when absent.
const RawKey* gguf_key(const ResolvedModel& model, std::string_view name);
double gguf_number(const ResolvedModel& model, std::string_view name);

/// Names that readers take as another type: "su" -> "longrope"; the name itself otherwise.
std::string canonical_type(std::string_view name);
/// Types that transformers reads.
const std::vector<std::string>& rope_types();

/// Edits between two names, case apart, at most `most`: a misspelling rather than another word.
bool is_near(std::string_view a, std::string_view b, size_t most = 2);
std::string last_part(std::string_view path);  // after the last dot

double key_number(const RawKey* key);              // NaN for null and for what is no number
std::string digits(double value, int count = 10);  // %.{count}g
std::string text_of(double value);                 // shortest; whole numbers without an exponent
bool is_whole(double value);

/// b^(-2m/width) of a kind's own base and width: its table before any extension.
std::vector<double> plain_table(const LayerKind& kind);

/// Value rounded to the nearest bfloat16 or float16, ties to even.
double round_to_bf16(double value);
double round_to_fp16(double value);

Finding error(std::string key, std::string found, std::string expected, std::string message);
Finding warning(std::string key, std::string found, std::string expected, std::string message);
Finding note(std::string key, std::string found, std::string expected, std::string message);

/// The rule's findings, with its id on each.
std::vector<Finding> findings_of(const Rule& rule, const ResolvedModel& model);

}  // namespace gyre::inspect

// Records and their keys: five slots, "the kettle filed under the baker in May in the ledger of
// Oslo". One key in eight (the sum of its indices is a multiple of 8) belongs to the filler, so no
// filler record has the key of an evidence or of a distractor.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "gyre/accept/text/words.h"
#include "gyre/base/rng.h"

namespace gyre::accept {

/// Index of each slot's value, in the order of Slot.
using Key = std::array<int64_t, kSlots>;

/// How a key is written: as a record or, in plain sentences, as a name.
enum class Family { Record, Plain };

Key filler_key(Rng& rng);
/// Never one of the filler's.
Key evidence_key(Rng& rng, Family family = Family::Record);
/// Another evidence key that has exactly `equal` slots (0 to 4) in common.
Key similar_key(Rng& rng, const Key& key, int64_t equal, Family family = Family::Record);
int64_t equal_slots(const Key& a, const Key& b);

/// "in the ledger of Oslo, the kettle filed under the baker in May"
std::string record_opening(const Key& key);
/// "the kettle filed under the baker in May in the ledger of Oslo"
std::string key_text(const Key& key);
/// "In the ledger of Oslo, the kettle filed under the baker in May carries code KX7-3QD."
///
/// kind  code | part | digit
/// date  "2021-05-01", or "" for none
std::string record(const Key& key, std::string_view kind, std::string_view value,
                   std::string_view date = "");
/// "What code does the kettle filed under ... carry?"
std::string record_question(const Key& key);
/// The same question in other words: no content word in common with the record.
std::string paraphrased_question(const Key& key);

/// Second family: "the red copper kettle of the baker in Oslo", at most 60 bytes.
std::string plain_name(const Key& key);

/// Share of words that two texts have in common: |both| / |either|, case ignored.
double word_jaccard(std::string_view a, std::string_view b);

}  // namespace gyre::accept

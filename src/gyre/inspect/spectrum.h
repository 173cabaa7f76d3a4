// What a table of frequencies means at a length: turns, bands that never complete one, pairs that
// an extension moved. Shared by the terminal text, JSON and the page.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "gyre/inspect/finding.h"
#include "gyre/inspect/resolved.h"

namespace gyre::inspect {

/// Frequencies of the first head group; empty when nothing rotates.
const std::vector<double>& bands_of(const LayerKind& kind);

/// The kind's table without its extension: base^(-2m/R), 0 where the pair does not rotate.
std::vector<double> unextended_bands(const LayerKind& kind);

/// Turns of a frequency inside `length` tokens.
double turns(double inv_freq, int64_t length);

/// Pairs that rotate and complete less than one turn inside `length` tokens.
std::vector<int64_t> unfinished_pairs(const std::vector<double>& bands, int64_t length);
/// Pairs whose frequency differs from the unextended table's.
std::vector<int64_t> moved_pairs(const LayerKind& kind, const std::vector<double>& bands);

/// {0, 1, 2, 5} -> "0-2, 5"; "none" for an empty list.
std::string ranges(const std::vector<int64_t>& numbers);

/// Control characters and bytes that are no printable ASCII or UTF-8 continuation become '?'.
std::string printable(std::string_view text);

const char* name_of(SourceKind source);
const char* name_of(OriginKind origin);
const char* name_of(Severity severity);

}  // namespace gyre::inspect

// The arms of a comparison: a position scheme with its options, and a mask when it has its own.
//   rope,prope:p=0.75,cut=high,nope    options may contain commas: "cut=high" continues prope
//   rope@window:128/full               after '@': this arm's mask
//   frozen:from=@lerope                '@' as a value: the same seed's run of another arm
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gyre::study {

struct Arm {
  std::string name;     // as given; what tables show
  std::string scheme;   // scheme spec; may hold "=@" until resolve_source()
  std::string mask;     // "" = the comparison's mask
  int64_t source = -1;  // index of the arm whose run this one reads; -1 = none
};

/// Splits a list at ',', ';' and blanks. Error(Usage): no arm, a name twice, an option before any
/// arm, a source that is no other arm or comes round to itself.
std::vector<Arm> parse_arms(std::string_view text);

/// "3" = seeds 1, 2, 3; "5,8,13" = these. Error(Usage) on anything else, on doubles, on none.
std::vector<int64_t> parse_seeds(std::string_view text);

/// The scheme spec with "=@NAME" replaced by "=RUN".
std::string resolve_source(const Arm& arm, const std::string& run);

/// Indices of the arms, each after its source.
std::vector<size_t> run_order(const std::vector<Arm>& arms);

/// Folder name of a cell: the arm's name with everything but letters, digits and ._=+- replaced,
/// shortened with a hash when long or when replacing could make two names equal; then "-s<seed>".
std::string cell_name(const Arm& arm, int64_t seed);

}  // namespace gyre::study

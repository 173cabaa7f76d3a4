// The parts of the page of an analysis, each made by one file of this folder.
#pragma once

#include <string>
#include <vector>

#include "gyre/analyze/analysis.h"
#include "gyre/report/section.h"

namespace gyre::report {

Section analyze_usage_section(const analyze::Analysis& a);      // norms, shares, ends, texts
Section analyze_heads_section(const analyze::Analysis& a);      // catalogue, patterns, bound
Section analyze_positions_section(const analyze::Analysis& a);  // contribution, sign change
Section analyze_ablation_section(const analyze::Analysis& a);
Section analyze_spectrum_section(const analyze::Analysis& a);

/// What the finding of this id says of the model, as the sentence under a figure.
std::string finding_sentence(const analyze::Analysis& a, const std::string& id);

/// "6.28 tokens", "at rest".
std::string wavelength_text(double wavelength);

/// A heat map over layers (rows) and pairs (columns), whose columns are labelled by wavelength.
Panel layer_by_pair(const analyze::Analysis& a, const std::string& title,
                    const std::vector<std::vector<double>>& values, const std::string& value);

/// Ticks of about six columns, labelled by wavelength of the first layer that rotates.
void wavelength_ticks(Axis& axis, const analyze::Analysis& a);

/// Ticks of at most `most` rows, labelled by themselves.
void index_ticks(Axis& axis, int64_t n, int64_t most = 8);

/// Up to five digits: enough for a picture, a third of the bytes.
std::vector<std::vector<double>> for_picture(const std::vector<std::vector<double>>& values);

}  // namespace gyre::report

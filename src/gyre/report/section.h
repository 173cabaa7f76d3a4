// The parts of the page, each made from a Comparison by one file of sections/. A part without data
// says in one line why it is empty.
#pragma once

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "gyre/report/figure.h"

namespace gyre::report {

/// A table that has a CSV file of its own: figures/<id>.csv.
struct DataFile {
  std::string id;
  Csv csv;
};

struct Section {
  std::string id;
  std::string title;
  std::vector<std::variant<std::string, Figure>> body;  // HTML or figures, in order
  std::vector<DataFile> files;

  Section(std::string id_, std::string title_) : id(std::move(id_)), title(std::move(title_)) {}
  void html(std::string text) { body.emplace_back(std::move(text)); }
  void figure(Figure value) { body.emplace_back(std::move(value)); }
  /// The one line that stands in place of figures that cannot be drawn.
  void left_out(const std::string& reason) {
    body.emplace_back("<p class=\"left-out\">Left out: " + escape(reason) + ".</p>\n");
  }
};

Section results_section(const Comparison& c);        // main table, differences with intervals
Section training_section(const Comparison& c);       // loss curves
Section position_section(const Comparison& c);       // loss by position
Section extrapolation_section(const Comparison& c);  // loss by length
Section needle_section(const Comparison& c);
Section frequency_section(const Comparison& c);  // spectra, trajectories, bands
Section overhead_section(const Comparison& c);
Section published_section(const Comparison& c);
Section failures_section(const Comparison& c);
Section unresolved_section(const Comparison& c);
Section limits_section(const Comparison& c);
Section sources_section(const Comparison& c);
Section made_section(const Comparison& c);

}  // namespace gyre::report

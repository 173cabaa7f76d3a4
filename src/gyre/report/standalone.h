// Pages of their own in the style of the report: one HTML file that loads nothing from the network.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "gyre/report/section.h"

namespace gyre::report {

/// A whole page around `body_html`. Figures in the body are placed by standalone_figure() or
/// sections_html(); `figures` holds the same ones. `plotly_js` is inlined as it is.
std::string standalone_page(const std::string& title, const std::string& eyebrow,
                            const std::string& body_html, const std::vector<const Figure*>& figures,
                            const std::string& plotly_js);

/// A figure whose data table is in the page: keys, panels, caption, formula and rows.
std::string standalone_figure(const Figure& figure, int number);

/// Links to the sections, then the sections, figures numbered from 1; `command` stands beside each.
std::string sections_html(const std::vector<Section>& sections, const std::string& command);

std::vector<const Figure*> figures_of(const std::vector<Section>& sections);

/// Writes out_dir/figures/*.csv of figures and files, then out_dir/report.html.
///
/// throws   Error(File) when a file cannot be written
void write_standalone(const std::vector<Section>& sections, const std::string& page,
                      const std::filesystem::path& out_dir);

}  // namespace gyre::report

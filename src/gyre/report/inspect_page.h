// The page of `gyre inspect --report`: the spectrum of every layer kind, what each value came from,
// findings. One file, no CSV beside it: the numbers are in its tables.
#pragma once

#include <string>
#include <vector>

#include "gyre/inspect/finding.h"
#include "gyre/inspect/resolved.h"
#include "gyre/report/figure.h"

namespace gyre::report {

/// A whole page around `body_html` in the style of the report, which loads nothing from the
/// network. Figures in the body are placed by standalone_figure(); `figures` holds the same ones.
std::string standalone_page(const std::string& title, const std::string& eyebrow,
                            const std::string& body_html, const std::vector<const Figure*>& figures,
                            const std::string& plotly_js);

/// A figure whose data table is in the page: keys, panels, caption, formula and rows.
std::string standalone_figure(const Figure& figure, int number);

std::string inspect_page(const inspect::ResolvedModel& model,
                         const std::vector<inspect::Finding>& findings,
                         const std::string& plotly_js);

}  // namespace gyre::report

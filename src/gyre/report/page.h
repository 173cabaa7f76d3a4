// The whole page as one string: style, sections in order, figure data, charting library, script.
#pragma once

#include <string>
#include <vector>

#include "gyre/report/section.h"

namespace gyre::report {

/// All sections in page order.
std::vector<Section> make_sections(const Comparison& comparison);

/// `plotly_js` is inlined as it is; it must not hold "</script".
std::string page_html(const Comparison& comparison, const std::vector<Section>& sections,
                      const std::string& plotly_js);

}  // namespace gyre::report

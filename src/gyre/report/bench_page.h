// The page of `gyre bench --report`: one self-contained HTML file with the table, the curves and
// where the time goes. Made from a Record alone.
#pragma once

#include <string>

#include "gyre/bench/record.h"

namespace gyre::report {

/// `plotly_js` is inlined as it is; it must not hold "</script".
std::string bench_page(const bench::Record& record, const std::string& plotly_js);

}  // namespace gyre::report

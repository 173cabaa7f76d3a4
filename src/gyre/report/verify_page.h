// The page of `gyre verify --report`: one self-contained HTML file whose CSV files are inlined as
// data links. Made from a Verification alone.
#pragma once

#include <string>

#include "gyre/verify/battery_json.h"

namespace gyre::report {

/// `plotly_js` is inlined as it is; it must not hold "</script".
std::string verify_page(const verify::Verification& verification, const std::string& plotly_js);

}  // namespace gyre::report

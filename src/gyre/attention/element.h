// Element types of queries, keys and values.
#pragma once

namespace gyre::attention {

enum class Element { F64, F32, BF16 };

}  // namespace gyre::attention

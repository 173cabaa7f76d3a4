// A finding of lint or diff. Rules: lint/rules/*.cpp, one per file, listed in lint/rules.def.
#pragma once

#include <string>
#include <vector>

namespace gyre::inspect {

enum class Severity { Note, Warning, Error };

struct Finding {
  std::string id;  // rule id, "original-length-missing"
  Severity severity = Severity::Note;
  std::string
      key;  // the key or tensor it is about, "rope_scaling.original_max_position_embeddings"
  std::string message;   // one line: what is wrong and what it does, with numbers
  std::string expected;  // value that would be right, "" = none single
  std::string found;
};

}  // namespace gyre::inspect

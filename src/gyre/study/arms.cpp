#include "gyre/study/arms.h"

#include <algorithm>
#include <cctype>

#include "gyre/base/error.h"
#include "gyre/base/files.h"
#include "gyre/base/options.h"

namespace gyre::study {
namespace {

struct Piece {
  std::string text;
  char before = ';';  // the separator in front of it
};

std::vector<Piece> split(std::string_view text) {
  std::vector<Piece> pieces;
  Piece piece;
  int depth = 0;
  const auto finish = [&](char separator) {
    if (!piece.text.empty()) {
      pieces.push_back(piece);
      piece.text.clear();
      piece.before = separator;
    } else if (separator != ',') {
      piece.before = separator;
    }
  };
  for (const char c : text) {
    depth += c == '[' ? 1 : c == ']' ? -1 : 0;
    const bool blank = std::isspace(static_cast<unsigned char>(c)) != 0;
    if (depth == 0 && (c == ',' || c == ';' || blank)) {
      finish(blank ? ' ' : c);
    } else {
      piece.text += c;
    }
  }
  finish(';');
  return pieces;
}

// "p=0.75" has its '=' before any ':'; an arm has none or has it inside its options.
bool is_option(const std::string& text) {
  const size_t equals = text.find('=');
  return equals != std::string::npos && equals < text.find(':');
}

// Where the mask begins: the last '@' that does not start a value and is followed by a mask word.
size_t mask_place(const std::string& text) {
  const size_t at = text.rfind('@');
  if (at == std::string::npos || at == 0 || text[at - 1] == '=') {
    return std::string::npos;
  }
  const std::string_view rest = std::string_view(text).substr(at + 1);
  const bool word =
      rest.starts_with("full") || rest.starts_with("window:") || rest.starts_with("dilated:");
  return word || text.find('=') > at ? at : std::string::npos;
}

Arm make_arm(const std::string& text) {
  Arm arm;
  arm.name = text;
  const size_t at = mask_place(text);
  arm.scheme = text.substr(0, at);
  if (at != std::string::npos) {
    arm.mask = text.substr(at + 1);
    if (arm.mask.empty()) {
      throw Error(Code::Usage, "--arms: '", text, "' has no mask after '@'");
    }
  }
  return arm;
}

struct Reference {
  size_t at = std::string::npos;  // of '@'
  size_t end = 0;
  std::string name;
};

Reference find_reference(const std::string& scheme) {
  Reference out;
  const size_t place = scheme.find("=@");
  if (place != std::string::npos) {
    out.at = place + 1;
    out.end = std::min(scheme.find(',', out.at), scheme.size());
    out.name = scheme.substr(out.at + 1, out.end - out.at - 1);
  }
  return out;
}

// By whole name, else by the only arm of that scheme.
int64_t find_arm(const std::vector<Arm>& arms, const std::string& name, const Arm& asking) {
  std::vector<int64_t> by_scheme;
  for (size_t i = 0; i < arms.size(); ++i) {
    const auto index = static_cast<int64_t>(i);
    if (arms[i].name == name) {
      return index;
    }
    if (arms[i].scheme.substr(0, arms[i].scheme.find(':')) == name) {
      by_scheme.push_back(index);
    }
  }
  if (by_scheme.size() != 1) {
    throw Error(Code::Usage, "--arms: '", asking.name, "' reads the run of '", name, "', ",
                by_scheme.empty() ? "which is no arm" : "which is more than one arm",
                "; add it to --arms or give a run directory");
  }
  return by_scheme.front();
}

}  // namespace

std::vector<Arm> parse_arms(std::string_view text) {
  std::vector<std::string> texts;
  for (const Piece& piece : split(text)) {
    if (!is_option(piece.text)) {
      texts.push_back(piece.text);
      continue;
    }
    if (texts.empty() || piece.before != ',') {
      throw Error(Code::Usage, "--arms: '", piece.text,
                  "' is an option without a scheme before it; write scheme:", piece.text);
    }
    if (mask_place(texts.back()) != std::string::npos) {
      throw Error(Code::Usage, "--arms: option '", piece.text, "' comes after the mask of '",
                  texts.back(), "'; put options before '@'");
    }
    texts.back() += (texts.back().find(':') == std::string::npos ? ":" : ",") + piece.text;
  }
  std::vector<Arm> arms;
  for (const std::string& one : texts) {
    if (std::any_of(arms.begin(), arms.end(), [&](const Arm& a) { return a.name == one; })) {
      throw Error(Code::Usage, "--arms: '", one, "' is named twice");
    }
    arms.push_back(make_arm(one));
  }
  if (arms.empty()) {
    throw Error(Code::Usage, "--arms names no position scheme; see: gyre schemes");
  }
  for (Arm& arm : arms) {
    if (const Reference reference = find_reference(arm.scheme); reference.at != std::string::npos) {
      arm.source = find_arm(arms, reference.name, arm);
    }
  }
  run_order(arms);  // refuses circles
  return arms;
}

std::vector<int64_t> parse_seeds(std::string_view text) {
  std::vector<int64_t> seeds;
  try {
    detail::parse(text, seeds);
  } catch (const Error& error) {
    throw Error(Code::Usage, "--seeds ", error.what());
  }
  constexpr int64_t kMost = 1000;
  if (seeds.size() == 1 && seeds[0] >= 1 && seeds[0] <= kMost) {
    const int64_t count = seeds[0];
    seeds.clear();
    for (int64_t seed = 1; seed <= count; ++seed) {
      seeds.push_back(seed);
    }
  }
  std::vector<int64_t> sorted = seeds;
  std::sort(sorted.begin(), sorted.end());
  const bool twice = std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end();
  if (seeds.empty() || sorted.front() < 1 || twice) {
    throw Error(Code::Usage,
                "--seeds must be a count (3) or a list of different seeds of 1 or more ",
                "(5,8,13), got '", text, "'");
  }
  return seeds;
}

std::string resolve_source(const Arm& arm, const std::string& run) {
  const Reference reference = find_reference(arm.scheme);
  return reference.at == std::string::npos
             ? arm.scheme
             : arm.scheme.substr(0, reference.at) + run + arm.scheme.substr(reference.end);
}

std::vector<size_t> run_order(const std::vector<Arm>& arms) {
  std::vector<size_t> order;
  std::vector<bool> placed(arms.size());
  while (order.size() < arms.size()) {
    const size_t before = order.size();
    for (size_t i = 0; i < arms.size(); ++i) {
      const int64_t source = arms[i].source;
      if (!placed[i] && (source < 0 || placed[static_cast<size_t>(source)])) {
        placed[i] = true;
        order.push_back(i);
      }
    }
    if (order.size() == before) {
      const size_t stuck =
          static_cast<size_t>(std::find(placed.begin(), placed.end(), false) - placed.begin());
      throw Error(Code::Usage, "--arms: '", arms[stuck].name,
                  "' waits for a run that waits for it");
    }
  }
  return order;
}

std::string cell_name(const Arm& arm, int64_t seed) {
  std::string safe;
  bool changed = false;
  for (const char c : arm.name) {
    const bool fine = std::isalnum(static_cast<unsigned char>(c)) != 0 ||
                      std::string_view("._=+-").find(c) != std::string_view::npos;
    const bool common = c == ':';  // "prope:p=0.75" -> "prope_p=0.75" stays unique in practice
    safe += fine ? c : '_';
    changed = changed || (!fine && !common) || c == '_';
  }
  constexpr size_t kLongest = 60;
  if (changed || safe.size() > kLongest) {
    safe = safe.substr(0, kLongest - 9) + "_" + sha256(arm.name).substr(0, 8);
  }
  return safe + "-s" + std::to_string(seed);
}

}  // namespace gyre::study

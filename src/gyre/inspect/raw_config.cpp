// JSON text -> flattened keys. nlohmann's event parser is used, not its tree: a tree keeps one
// value of a doubled key without a word, recurses over hostile nesting and has no NaN.
#include "gyre/inspect/raw_config.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "gyre/base/error.h"
#include "gyre/base/options.h"

namespace gyre::inspect {
namespace {

using Json = nlohmann::json;

constexpr size_t kMaxBytes = size_t{64} << 20;
constexpr size_t kMaxDepth = 64;
constexpr size_t kMaxKeys = 300000;    // public configs of quantized experts have 70,000
constexpr size_t kMaxItems = 1000000;  // of all lists together
constexpr size_t kMaxShortForm = 60;   // characters of a list as printed
// Stand-ins for the words that JSON lacks; the escaped NUL keeps any honest text apart from them.
constexpr const char* kNan = "\"\\u0000NaN\"";
constexpr const char* kInfinity = "\"\\u0000inf\"";
constexpr const char* kMinusInfinity = "\"\\u0000-inf\"";

struct Node {
  RawKey key;  // path holds the own name only
  std::vector<Node> children;
};

// Copies JSON text with NaN, Infinity and -Infinity outside strings replaced.
std::string with_stand_ins(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  bool quoted = false;
  for (size_t i = 0; i < text.size();) {
    const std::string_view rest = text.substr(i);
    const auto replace = [&](std::string_view word, const char* by) {
      if (quoted || !rest.starts_with(word)) {
        return false;
      }
      out += by;
      i += word.size();
      return true;
    };
    if (replace("NaN", kNan) || replace("-Infinity", kMinusInfinity) ||
        replace("Infinity", kInfinity)) {
      continue;
    }
    if (text[i] == '"') {
      quoted = !quoted;
    } else if (quoted && text[i] == '\\' && i + 1 < text.size()) {
      out += text[i++];
    }
    out += text[i++];
  }
  return out;
}

// "rope.x" as one name must not read as "x" inside "rope".
std::string escaped_name(const std::string& name) {
  std::string out;
  for (const char c : name) {
    out += c == '.' ? std::string("\\.") : std::string(1, c);
  }
  return out;
}

std::string printable(std::string_view text) {
  std::string out;
  for (const char c : text.substr(0, kMaxShortForm)) {
    const auto byte = static_cast<unsigned char>(c);
    out += byte < 0x20 || byte >= 0x7f ? '?' : c;
  }
  return text.size() > kMaxShortForm ? out + "..." : out;
}

std::string short_list(const RawKey& list, size_t n_items) {
  std::string out = "[";
  const size_t n_known = std::max(list.numbers.size(), list.texts.size());
  size_t i = 0;
  for (; i < n_known && out.size() < kMaxShortForm; ++i) {
    out += i == 0 ? "" : ", ";
    out += list.texts.empty() ? detail::format(list.numbers[i]) : list.texts[i];
  }
  if (i < n_items) {
    out += str(i == 0 ? "" : ", ... ", n_items, " items");
  }
  return out + "]";
}

class Builder final : public nlohmann::json_sax<Json> {
 public:
  Builder(std::string_view text, std::string owner) : text_(text), owner_(std::move(owner)) {}

  bool null() override { return scalar(RawType::Null, "null", kNotANumber); }
  bool boolean(bool value) override {
    return scalar(RawType::Bool, value ? "true" : "false", value ? 1.0 : 0.0);
  }
  bool number_integer(int64_t value) override {
    return scalar(RawType::Number, std::to_string(value), static_cast<double>(value));
  }
  bool number_unsigned(uint64_t value) override {
    return scalar(RawType::Number, std::to_string(value), static_cast<double>(value));
  }
  bool number_float(double value, const std::string& written) override {
    return scalar(RawType::Number, written, value);
  }
  bool string(std::string& value) override {
    if (value.size() > 1 && value[0] == '\0') {
      const std::string word = value.substr(1);
      const double infinity = std::numeric_limits<double>::infinity();
      if (word == "NaN" || word == "inf" || word == "-inf") {
        return scalar(RawType::Number,
                      word == "NaN"   ? "NaN"
                      : word == "inf" ? "Infinity"
                                      : "-Infinity",
                      word == "NaN"   ? kNotANumber
                      : word == "inf" ? infinity
                                      : -infinity);
      }
    }
    return scalar(RawType::Text, value, kNotANumber);
  }
  bool binary(Json::binary_t&) override { return false; }

  bool start_object(size_t) override { return open(RawType::Object); }
  bool start_array(size_t) override { return open(RawType::List); }
  bool key(std::string& name) override {
    if (++n_keys_ > kMaxKeys) {
      throw Error(Code::Format, owner_, ": more than ", kMaxKeys,
                  " keys; no model's config.json has so many");
    }
    name_ = name;
    return true;
  }
  bool end_object() override {
    keep_last(stack_.back().node.children);
    stack_.back().node.key.text = str("{", stack_.back().node.children.size(), " keys}");
    return close();
  }
  bool end_array() override {
    Frame& frame = stack_.back();
    RawKey& list = frame.node.key;
    if (list.numbers.size() != frame.n_items) {
      list.numbers.clear();
    }
    if (list.texts.size() != frame.n_items) {
      list.texts.clear();
    }
    list.text = short_list(list, frame.n_items);
    return close();
  }
  bool parse_error(size_t position, const std::string& token,
                   const nlohmann::detail::exception& fault) override {
    const size_t line =
        1 +
        static_cast<size_t>(std::count(
            text_.begin(),
            text_.begin() + static_cast<std::ptrdiff_t>(std::min(position, text_.size())), '\n'));
    const std::string_view what = fault.what();
    if (what.find("UTF-8") != std::string_view::npos) {
      throw Error(Code::Format, owner_, ": line ", line, " is not UTF-8 text");
    }
    if (position >= text_.size()) {
      throw Error(Code::Format, owner_, ": the JSON text ends inside a value at line ", line,
                  "; the file is truncated");
    }
    if (what.find("out_of_range") != std::string_view::npos) {
      throw Error(Code::Format, owner_, ": line ", line,
                  ": number out of range: ", printable(token));
    }
    const std::string_view rest = text_.substr(std::max<size_t>(position, 1) - 1);
    throw Error(Code::Format, owner_, ": line ", line, ": no valid JSON near '",
                printable(rest.substr(0, std::min<size_t>(rest.find('\n'), 20))), "'");
  }

  /// The outermost object, once the parser is through.
  Node take() {
    if (root_.key.type != RawType::Object) {
      throw Error(Code::Format, owner_, ": expected a JSON object, found ",
                  root_.key.type == RawType::List ? "a list" : "a single value");
    }
    return std::move(root_);
  }

 private:
  static constexpr double kNotANumber = std::numeric_limits<double>::quiet_NaN();

  struct Frame {
    Node node;
    size_t n_items = 0;  // of a list
  };

  bool in_list() const { return !stack_.empty() && stack_.back().node.key.type == RawType::List; }

  bool scalar(RawType type, std::string text, double number) {
    if (in_list()) {
      Frame& frame = stack_.back();
      count_item(frame);
      if (type == RawType::Text) {
        frame.node.key.texts.push_back(std::move(text));
      } else if (type != RawType::Null) {
        frame.node.key.numbers.push_back(number);
      }
      return true;
    }
    Node node;
    node.key.path = name_;
    node.key.type = type;
    node.key.text = std::move(text);
    node.key.number = number;
    place(std::move(node));
    return true;
  }

  void count_item(Frame& frame) {
    ++frame.n_items;
    if (++n_items_ > kMaxItems) {
      throw Error(Code::Format, owner_, ": lists of more than ", kMaxItems,
                  " values; no model's config.json has so many");
    }
  }

  bool open(RawType type) {
    if (stack_.size() >= kMaxDepth) {
      throw Error(Code::Format, owner_, ": nested deeper than ", kMaxDepth, " levels");
    }
    if (in_list()) {
      count_item(stack_.back());
    }
    Frame frame;
    frame.node.key.path = name_;
    frame.node.key.type = type;
    frame.node.key.number = kNotANumber;
    stack_.push_back(std::move(frame));
    return true;
  }

  bool close() {
    Node node = std::move(stack_.back().node);
    stack_.pop_back();
    if (!in_list()) {  // lists and objects inside a list show in its count alone
      place(std::move(node));
    }
    return true;
  }

  void place(Node node) {
    if (stack_.empty()) {
      root_ = std::move(node);
    } else {
      stack_.back().node.children.push_back(std::move(node));
    }
  }

  // As Python's json does; the reader that everybody uses.
  static void keep_last(std::vector<Node>& children) {
    std::unordered_map<std::string, size_t> last;
    std::vector<char> dead(children.size(), 0);
    for (size_t i = 0; i < children.size(); ++i) {
      const auto [place, is_new] = last.try_emplace(children[i].key.path, i);
      if (!is_new) {
        dead[place->second] = 1;
        children[i].key.repeated = true;
        place->second = i;
      }
    }
    std::vector<Node> kept;
    for (size_t i = 0; i < children.size(); ++i) {
      if (dead[i] == 0) {
        kept.push_back(std::move(children[i]));
      }
    }
    children = std::move(kept);
  }

  std::string_view text_;
  std::string owner_;
  std::string name_;
  std::vector<Frame> stack_;
  Node root_;
  size_t n_keys_ = 0;
  size_t n_items_ = 0;
};

// Depth is at most kMaxDepth. An object comes before what is in it.
void flatten(Node& node, const std::string& prefix, RawConfig& config) {
  for (Node& child : node.children) {
    std::string path = prefix + escaped_name(child.key.path);
    child.key.path = path;
    config.add(std::move(child.key));
    flatten(child, path + ".", config);
  }
}

}  // namespace

RawConfig RawConfig::from_json(std::string_view text, const std::string& owner) {
  if (text.size() > kMaxBytes) {
    throw Error(Code::Format, owner, ": ", text.size(), " bytes; a config of more than ", kMaxBytes,
                " bytes is not read");
  }
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) {
    throw Error(Code::Format, owner, ": the file is empty; expected a JSON object");
  }
  const std::string prepared = with_stand_ins(text);
  Builder builder(prepared, owner);
  Json::sax_parse(prepared, &builder);
  Node root = builder.take();
  RawConfig config;
  flatten(root, "", config);
  return config;
}

void RawConfig::add(RawKey key) {
  index_.try_emplace(key.path, keys_.size());
  keys_.push_back(std::move(key));
}

const RawKey* RawConfig::find(std::string_view path) const {
  const auto found = index_.find(std::string(path));
  return found == index_.end() ? nullptr : &keys_[found->second];
}

const RawKey* RawConfig::use(std::string_view path) {
  const auto found = index_.find(std::string(path));
  if (found == index_.end()) {
    return nullptr;
  }
  keys_[found->second].used = true;
  return &keys_[found->second];
}

}  // namespace gyre::inspect

// nlohmann's event parser is used, not its tree: a tree keeps one of two equal names without a word
// and follows any nesting. The format has three levels:
//   { "name": { "dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24] },
//     "__metadata__": { "key": "text" } }
#include "gyre/tensor/safetensors_json.h"

#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <unordered_set>

#include "gyre/base/error.h"
#include "gyre/tensor/header_text.h"

namespace gyre::tensor {
namespace {

using Json = nlohmann::json;

constexpr size_t kMaxDims = 64;

class Handler final : public nlohmann::json_sax<Json> {
 public:
  explicit Handler(const std::string& owner) : owner_(owner) {}
  SafetensorsJson take() { return std::move(out_); }

  bool null() override { return value("null"); }
  bool boolean(bool) override { return value("true or false"); }
  bool number_integer(int64_t number) override {
    if (number < 0 && wants_size()) {
      fail("has ", number, " in ", field_, ", sizes and offsets are not negative");
    }
    return value("a number");
  }
  bool number_unsigned(uint64_t number) override {
    if (!wants_size()) {
      return value("a number");
    }
    add_size(number);
    return true;
  }
  bool number_float(double, const std::string& text) override {
    if (wants_size()) {
      fail("has ", printable(text), " in ", field_, ", which is no whole number of 64 bits");
    }
    return value("a number");
  }
  bool string(std::string& text) override {
    if (level_ == 2 && !in_list_ && in_metadata_) {
      out_.metadata[field_] = text;
      return true;
    }
    if (level_ == 2 && !in_list_ && field_ == "dtype") {
      if (text.empty() || text.size() > 32 || !is_name(text)) {
        fail("has type '", printable(text), "', which is no type name");
      }
      tensor_.dtype = text;
      seen_ |= kDtype;
      return true;
    }
    return value("a text");
  }
  bool binary(Json::binary_t&) override { return false; }

  bool start_object(size_t) override {
    ++level_;
    if (level_ == 1) {
      return true;
    }
    if (level_ > 2) {
      fail("is nested deeper than the format is");
    }
    in_metadata_ = name_ == "__metadata__";
    fields_.clear();
    tensor_ = StoredTensor{};
    tensor_.name = name_;
    seen_ = 0;
    return true;
  }
  bool key(std::string& text) override {
    if (level_ == 1) {
      name_ = text;
      if (!is_name(text) || text.empty()) {
        throw Error(Code::Format, owner_, ": tensor name '", printable(text),
                    "' is empty or has control characters");
      }
      if (!names_.insert(text).second) {
        fail("stands twice");
      }
      return true;
    }
    field_ = text;
    if (!fields_.insert(text).second) {
      fail("has ", printable(text), " twice");
    }
    return true;
  }
  bool end_object() override {
    --level_;
    if (level_ == 1 && !in_metadata_) {
      if (seen_ != kAll) {
        fail("needs dtype, shape and two data_offsets");
      }
      out_.tensors.push_back(std::move(tensor_));
    }
    return true;
  }
  bool start_array(size_t) override {
    if (level_ == 0) {
      not_object();
    }
    if (level_ != 2 || in_list_ || in_metadata_) {
      fail("has a list where the format has none");
    }
    in_list_ = true;
    return true;
  }
  bool end_array() override {
    in_list_ = false;
    seen_ |= field_ == "shape" ? kShape : 0U;
    if (field_ == "data_offsets" && n_offsets_ == 2) {
      seen_ |= kOffsets;
    }
    n_offsets_ = 0;
    return true;
  }
  bool parse_error(size_t at, const std::string&, const Json::exception&) override {
    throw Error(Code::Format, owner_, ": malformed header: no JSON in UTF-8 at byte ", at,
                " of it");
  }

 private:
  static constexpr unsigned kDtype = 1, kShape = 2, kOffsets = 4, kAll = 7;

  const std::string& owner_;
  SafetensorsJson out_;
  StoredTensor tensor_;
  std::string name_, field_;
  std::unordered_set<std::string> names_;
  std::set<std::string> fields_;
  int level_ = 0;
  bool in_list_ = false, in_metadata_ = false;
  unsigned seen_ = 0, n_offsets_ = 0;

  template <class... T>
  [[noreturn]] void fail(const T&... parts) const {
    throw Error(Code::Format, owner_, ": tensor ", printable(name_), " ", parts...);
  }
  [[noreturn]] void not_object() const {
    throw Error(Code::Format, owner_, ": header is not a JSON object");
  }
  bool wants_size() const { return in_list_ && (field_ == "shape" || field_ == "data_offsets"); }
  void add_size(uint64_t number) {
    if (field_ == "data_offsets") {
      ++n_offsets_;
      (n_offsets_ == 1 ? tensor_.begin : tensor_.end) = number;
      return;
    }
    if (number > uint64_t(std::numeric_limits<int64_t>::max()) ||
        tensor_.shape.size() == kMaxDims) {
      fail("has an impossible shape");
    }
    tensor_.shape.push_back(static_cast<int64_t>(number));
  }
  /// A value that is none of those the format has; harmless under a key that nobody reads.
  bool value(const char* what) const {
    if (level_ == 0) {
      not_object();
    }
    const bool known = field_ == "dtype" || field_ == "shape" || field_ == "data_offsets";
    if (level_ == 1 || in_metadata_ || known) {
      fail("has ", what, " where the format has ",
           level_ == 1                         ? "an object"
           : in_metadata_ || field_ == "dtype" ? "a text"
           : in_list_                          ? "a size"
                                               : "a list");
    }
    return true;
  }
};

}  // namespace

SafetensorsJson parse_safetensors_json(std::string_view text, const std::string& owner) {
  Handler handler(owner);
  Json::sax_parse(text.begin(), text.end(), &handler);
  return handler.take();
}

}  // namespace gyre::tensor

// One list of fields per options struct: JSON, command-line flags, `--help`, scheme strings such as
// "prope:p=0.75,cut=high" and the run record are all made from it.
//
// A struct lists its members once:
//   template <class V> void fields(V& v) { v("base", base, "RoPE base theta"); ... }
// fields_of(options) then gives type-erased handles that read and write the members.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gyre {

/// Names of an enum's values; specialise with `static constexpr std::pair<E, const char*> list[]`.
template <class E>
struct EnumNames;

enum class FieldKind { Bool, Int, Real, Text, Choice, List };

/// One member of an options struct. `get` and `set` use text; `set` throws Error(Usage) on bad
/// text. The handle borrows the struct: it must not outlive it.
struct Field {
  std::string name;
  std::string help;
  FieldKind kind = FieldKind::Text;
  std::vector<std::string> choices;  // for Choice
  std::function<std::string()> get;
  std::function<void(std::string_view)> set;
};

using Fields = std::vector<Field>;

/// Nearest known name to a misspelled one, or "" when nothing is near.
std::string nearest_name(std::string_view wrong, const std::vector<std::string>& known);

/// Writes one field; throws Error(Usage) naming `owner`, the key and the nearest known key.
void set_field(const Fields& fields, std::string_view owner, std::string_view key,
               std::string_view value);

/// Reads "key=value,key=value"; a value may contain commas only inside [ ] or quotes.
void set_from_spec(const Fields& fields, std::string_view owner, std::string_view spec);

/// All fields as one JSON object text, and back. from_json refuses unknown keys by name.
std::string fields_to_json(const Fields& fields);
void fields_from_json(const Fields& fields, std::string_view owner, std::string_view json_text);

/// "base=10000,p=0.75": only the fields that differ from `defaults` (same list order).
std::string fields_summary(const Fields& fields, const Fields& defaults);

/// Where each value came from: default, file, flag; kept beside options in a run record.
using Origins = std::map<std::string, std::string>;

namespace detail {
std::string format(bool value);
std::string format(int64_t value);
std::string format(double value);  // shortest text that reads back to the same double
// [a,b]; an item that a comma, bracket or quote would break is quoted: [a,"p=1,q=2"]
std::string format(const std::vector<std::string>& values);
std::string format(const std::vector<int64_t>& values);
void parse(std::string_view text, bool& value);
void parse(std::string_view text, int64_t& value);  // accepts 2M, 64k, 1e6 when whole
void parse(std::string_view text, double& value);
void parse(std::string_view text, std::vector<std::string>& value);
void parse(std::string_view text, std::vector<int64_t>& value);
[[noreturn]] void bad_choice(std::string_view text, const std::vector<std::string>& choices);

struct FieldCollector {
  Fields list;

  template <class T>
  void operator()(const char* name, T& member, const char* help) {
    Field field{name, help, kind_of(member), {}, {}, {}};
    if constexpr (std::is_enum_v<T>) {
      for (const auto& [value, text] : EnumNames<T>::list) {
        field.choices.emplace_back(text);
      }
      field.get = [&member] {
        for (const auto& [value, text] : EnumNames<T>::list) {
          if (value == member) {
            return std::string(text);
          }
        }
        return std::string("?");
      };
      field.set = [&member, choices = field.choices](std::string_view text) {
        for (const auto& [value, known] : EnumNames<T>::list) {
          if (text == known) {
            member = value;
            return;
          }
        }
        bad_choice(text, choices);
      };
    } else if constexpr (std::is_same_v<T, std::string>) {
      field.get = [&member] { return member; };
      field.set = [&member](std::string_view text) { member = std::string(text); };
    } else {
      field.get = [&member] { return format(member); };
      field.set = [&member](std::string_view text) { parse(text, member); };
    }
    list.push_back(std::move(field));
  }

  static FieldKind kind_of(const bool&) { return FieldKind::Bool; }
  static FieldKind kind_of(const int64_t&) { return FieldKind::Int; }
  static FieldKind kind_of(const double&) { return FieldKind::Real; }
  static FieldKind kind_of(const std::string&) { return FieldKind::Text; }
  static FieldKind kind_of(const std::vector<std::string>&) { return FieldKind::List; }
  static FieldKind kind_of(const std::vector<int64_t>&) { return FieldKind::List; }
  template <class E>
  static FieldKind kind_of(const E&) {
    static_assert(std::is_enum_v<E>, "an option is bool, int64_t, double, string, list or enum");
    return FieldKind::Choice;
  }
};
}  // namespace detail

/// Handles to every member that `options.fields()` lists.
template <class Options>
Fields fields_of(Options& options) {
  detail::FieldCollector collector;
  options.fields(collector);
  return std::move(collector.list);
}

}  // namespace gyre

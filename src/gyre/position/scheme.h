// A scheme turns options and a model's shape into a PositionPlan. To add one: a file in schemes/, a
// line in schemes.def, a test beside the file. The conformance test runs over every registered one.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "gyre/base/options.h"
#include "gyre/position/plan.h"

namespace gyre::position {

class Scheme {
 public:
  virtual ~Scheme() = default;
  /// Handles to the scheme's own options; they borrow this object.
  virtual Fields fields() = 0;
  /// Checks the options against the shape (Error(Usage) names the option) and builds the plan.
  virtual PositionPlan plan(const PlanRequest& request) const = 0;
};

/// One line of schemes.def.
struct SchemeInfo {
  std::string name;
  std::string summary;  // one line for `gyre schemes`
  std::string formula;  // plain text, with its source
  std::unique_ptr<Scheme> (*make)();
};

/// Every registered scheme, in the order of schemes.def.
const std::vector<SchemeInfo>& schemes();

/// Options struct + free function -> Scheme. Used by the files in schemes/.
template <class Options, PositionPlan (*kPlan)(const Options&, const PlanRequest&)>
class SchemeOf final : public Scheme {
 public:
  Fields fields() override { return fields_of(options_); }
  PositionPlan plan(const PlanRequest& request) const override { return kPlan(options_, request); }

 private:
  Options options_;
};

/// Reads "name" or "name:key=value,key=value". Error(Usage) names the nearest known name or key.
std::unique_ptr<Scheme> make_scheme(std::string_view spec);

/// make_scheme(spec)->plan(request), with masks ("full", "window:128/full", ...) laid over the
/// layers. A layer whose mask is "full" keeps the one its scheme gives it; any other replaces it.
PositionPlan make_plan(std::string_view spec, std::string_view masks, const PlanRequest& request);

}  // namespace gyre::position

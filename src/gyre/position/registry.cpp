// The list of schemes (schemes.def), and the way from a text such as "rope:base=500000" to a plan.
#include "gyre/base/error.h"
#include "gyre/position/scheme.h"

namespace gyre::position {

#define GYRE_SCHEME(function) SchemeInfo function();
#include "gyre/position/schemes.def"
#undef GYRE_SCHEME

const std::vector<SchemeInfo>& schemes() {
  static const std::vector<SchemeInfo> list = {
#define GYRE_SCHEME(function) function(),
#include "gyre/position/schemes.def"
#undef GYRE_SCHEME
  };
  return list;
}

std::unique_ptr<Scheme> make_scheme(std::string_view spec) {
  const size_t colon = spec.find(':');
  const std::string name(spec.substr(0, colon));
  std::vector<std::string> names;
  for (const SchemeInfo& info : schemes()) {
    names.push_back(info.name);
    if (info.name == name) {
      std::unique_ptr<Scheme> scheme = info.make();
      if (colon != std::string_view::npos) {
        set_from_spec(scheme->fields(), name, spec.substr(colon + 1));
      }
      return scheme;
    }
  }
  // "yarn,factor=4": the name ends where the options should have begun.
  const size_t stray = name.find_first_of(",= ");
  const std::string near = nearest_name(name.substr(0, stray), names);
  const std::string meant = stray == std::string::npos || near.empty()
                                ? near
                                : near + ":" + std::string(spec.substr(stray + 1));
  throw Error(Code::Usage, "no position scheme '", name, "';",
              meant.empty() ? "" : " did you mean '" + meant + "'?", " see: gyre schemes");
}

PositionPlan make_plan(std::string_view spec, std::string_view masks, const PlanRequest& request) {
  PositionPlan plan = make_scheme(spec)->plan(request);
  const std::vector<MaskSpec> layer_masks = parse_masks(masks, request.n_layers);
  for (size_t n = 0; n < plan.layers.size(); ++n) {
    if (!layer_masks[n].full()) {
      plan.layers[n].mask = layer_masks[n];
    }
  }
  return plan;
}

}  // namespace gyre::position

#include "gyre/analyze/findings.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "gyre/analyze/analysis.h"
#include "gyre/base/error.h"

namespace gyre::analyze {
namespace {

constexpr double kMostLayers = 0.8;     // claim R10
constexpr double kAlike = 0.9;          // least correlation of domains that look alike
constexpr double kDominantRatio = 2.0;  // first over second band
constexpr double kNear = 0.1;           // of a predicted distance
constexpr double kAligned = 0.5;        // of the bound
constexpr double kFlat = 0.5;           // spread of values against that of queries and keys

std::string fixed(double value, int digits = 3) {
  char buffer[48];
  std::snprintf(buffer, sizeof buffer, "%.*f", digits, value);
  return std::isfinite(value) ? buffer : "unknown";
}

std::string percent(double share) {
  return fixed(100.0 * share, 1) + " %";
}

std::string tokens(double wavelength) {
  return std::isfinite(wavelength) ? fixed(wavelength, wavelength < 100.0 ? 1 : 0) + " tokens"
                                   : "no turn at all";
}

std::string with_interval(const Estimate& x, int digits = 3) {
  return fixed(x.mean, digits) +
         (std::isfinite(x.lo) ? " [" + fixed(x.lo, digits) + ", " + fixed(x.hi, digits) + "]" : "");
}

Verdict verdict_of(bool holds) {
  return holds ? Verdict::Holds : Verdict::Fails;
}

std::string layers_below_half(const Usage& usage) {
  std::string out;
  for (const LayerUsage& layer : usage.layers) {
    if (layer.rotates && (layer.q_share.low50 <= 0.5 || layer.k_share.low50 <= 0.5)) {
      out += (out.empty() ? "" : ", ") + std::to_string(layer.layer);
    }
  }
  return out;
}

/// Median over layers that rotate.
double median_of(const Usage& usage, double LayerUsage::*wavelength) {
  std::vector<double> values;
  for (const LayerUsage& layer : usage.layers) {
    if (layer.rotates) {
      values.push_back(layer.*wavelength);
    }
  }
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

Finding low_frequencies(const Analysis& a) {
  const Usage& u = a.usage;
  const auto n = static_cast<double>(u.n_rotating);
  const bool holds = static_cast<double>(u.n_low_q) >= kMostLayers * n &&
                     static_cast<double>(u.n_low_k) >= kMostLayers * n;
  const std::string below = layers_below_half(u);
  return {
      "low-frequencies", "Queries and keys put most of their norm into the slower half of pairs",
      verdict_of(holds),
      str("the slower half has over half the norm in ", u.n_low_q, " of ", u.n_rotating,
          " layers for queries and ", u.n_low_k,
          " for keys; for values, whose pairs mean nothing, in ", u.n_low_v, "; ",
          below.empty() ? "no layer is an exception"
                        : "it does not hold in layers " + below + " for queries or keys",
          "; half of the norm of queries and keys lies in pairs slower than ",
          tokens(median_of(u, &LayerUsage::half_wavelength)), " (median over layers; equal norms: ",
          tokens(median_of(u, &LayerUsage::middle_wavelength)), ")")};
}

Finding control(const Analysis& a) {
  const Usage& u = a.usage;
  const bool holds = u.spread_v < kFlat * std::min(u.spread_q, u.spread_k);
  return {"control", "The pattern belongs to queries and keys: values show none", verdict_of(holds),
          str("spread over pairs (standard deviation over mean, mean over layers): queries ",
              fixed(u.spread_q), ", keys ", fixed(u.spread_k), ", values ", fixed(u.spread_v))};
}

Finding ends(const Analysis& a) {
  const EndsProfile& e = a.usage.ends;
  Finding out{"ends", "The first and the last layer use fast pairs more than those between",
              Verdict::Open, ""};
  if (e.first_minus.n < 2) {
    out.text = "needs three layers that rotate and two rows of text";
    return out;
  }
  out.verdict = verdict_of(e.first_minus.above(0.0) && e.last_minus.above(0.0));
  out.text = str("share of the fastest quarter: first ", fixed(e.first.mean), ", last ",
                 fixed(e.last.mean), ", between ", fixed(e.middle.mean), " (equal norms: 0.25); ",
                 "first minus between ", with_interval(e.first_minus), ", last minus between ",
                 with_interval(e.last_minus), ", 95 % intervals over ", e.first.n, " rows of text");
  return out;
}

Finding domains(const Analysis& a) {
  Finding out{"domains", "Texts of different kinds use the pairs alike", Verdict::Open, ""};
  double least = 1.0;
  std::string pair;
  for (size_t i = 0; i < a.domains.size(); ++i) {
    for (size_t j = 0; j < i && i < a.usage.correlation.size(); ++j) {
      if (a.usage.correlation[i][j] < least) {
        least = a.usage.correlation[i][j];
        pair = a.domains[j].name + " and " + a.domains[i].name;
      }
    }
  }
  if (pair.empty()) {
    out.text = "needs two texts";
    return out;
  }
  out.verdict = verdict_of(least >= kAlike);
  out.text =
      str("least correlation of two maps (layers x pairs of queries and keys, each layer "
          "scaled to mean 1): ",
          fixed(least), ", of ", pair);
  return out;
}

std::string where_positional(const Catalogue& catalogue) {
  std::string out;
  for (const HeadEntry& head : catalogue.heads) {
    if (head.positional()) {
      out += str(out.empty() ? "" : ", ", "layer ", head.layer, " head ", head.head, " (",
                 kRoleNames[static_cast<size_t>(*head.role)], " ", fixed(head.score, 2), ")");
    }
  }
  return out;
}

Finding positional_heads(const Analysis& a) {
  const std::string where = where_positional(a.catalogue);
  return {"positional-heads",
          "Some heads attend by position alone: to themselves or one token back",
          verdict_of(!where.empty()),
          where.empty()
              ? str("no head puts ", fixed(a.catalogue.threshold, 2),
                    " of its attention on itself or on the token before")
              : str(where, "; ", a.catalogue.n_strong, " of them above ", fixed(kStrongHead, 1))};
}

Finding high_of_positional(const Analysis& a) {
  const Estimate &p = a.catalogue.high_positional, &o = a.catalogue.high_other;
  Finding out{"high-frequency-heads", "Positional heads use fast pairs more than other heads",
              Verdict::Open, ""};
  if (p.n < 2 || o.n < 2) {
    out.text = str("needs two positional heads in layers that rotate, found ", p.n);
    return out;
  }
  // Welch's interval would be little else: two groups of heads, compared by their own intervals.
  out.verdict = p.lo > o.hi ? Verdict::Holds : p.hi < o.lo ? Verdict::Fails : Verdict::Open;
  out.text = str("norm share of the fastest quarter of pairs: ", with_interval(p), " in ", p.n,
                 " positional heads, ", with_interval(o), " in ", o.n,
                 " others, 95 % intervals over heads",
                 out.verdict == Verdict::Open ? "; the intervals overlap" : "");
  return out;
}

Finding dominant(const Analysis& a) {
  Finding out{"dominant", "One pair does most of the positional work", Verdict::Fails,
              "no pair adds anything to logits by distance"};
  if (!a.positions || !a.positions->bands.dominant) {
    return out;
  }
  const evaluate::BandReport& bands = a.positions->bands;
  const evaluate::DominantBand& d = *bands.dominant;
  out.verdict = verdict_of(d.ratio >= kDominantRatio);
  out.text = str("pair ", d.band, ", wavelength ", tokens(d.wavelength), " = ",
                 fixed(d.over_train_length, 2), " training lengths, contributes ",
                 fixed(d.ratio, 2), " times the next; the contributions are spread over ",
                 fixed(bands.effective_bands, 1), " pairs (e to the entropy), and ",
                 percent(bands.cancellation), " of the others' ranges cancel");
  return out;
}

Finding sign_change(const Analysis& a) {
  Finding out{"sign-change",
              "The dominant pair's contribution turns positive again at 0.75 of its "
              "wavelength",
              Verdict::Open, "no dominant pair"};
  if (!a.positions || !a.positions->sign_change) {
    return out;
  }
  const SignChange& s = *a.positions->sign_change;
  const std::string where =
      str("layer ", s.layer, " head ", s.head, ": wavelength ", tokens(s.wavelength), ", phase ",
          fixed(s.phase, 2), " rad, predicted ", tokens(s.predicted), ", measured ");
  if (!s.measured) {
    out.text = where + "no change of sign within 16 training lengths";
    return out;
  }
  const auto measured = static_cast<double>(*s.measured);
  out.verdict = verdict_of(std::abs(measured - s.predicted) <= kNear * s.predicted + 1.0);
  out.text =
      str(where, tokens(measured), " = ",
          fixed(measured / static_cast<double>(a.positions->train_length), 2), " training lengths");
  return out;
}

const TaskEffect* task_of(const Ablation& ablation, const std::string& name) {
  const auto found = std::find_if(ablation.tasks.begin(), ablation.tasks.end(),
                                  [&](const TaskEffect& task) { return task.task == name; });
  return found == ablation.tasks.end() ? nullptr : &*found;
}

std::string effects_text(const TaskEffect& task) {
  std::string out = task.task + " (loss " + fixed(task.loss) + "):";
  for (const GroupEffect& group : task.groups) {
    out += str(group.group == 0 ? " " : ", ", kGroupNames[static_cast<size_t>(group.group)], " ",
               group.increase.mean >= 0.0 ? "+" : "", with_interval(group.increase));
  }
  return out;
}

Finding slow_carry_content(const Analysis& a) {
  Finding out{"ablation",
              "Slow pairs carry content: without them retrieval loses more than without "
              "the fast ones",
              Verdict::Open, "not measured"};
  if (!a.ablation) {
    return out;
  }
  out.text.clear();
  for (const TaskEffect& task : a.ablation->tasks) {
    out.text += (out.text.empty() ? "" : "; ") + effects_text(task);
  }
  const TaskEffect* retrieval = task_of(*a.ablation, "retrieval");
  if (retrieval == nullptr || retrieval->groups.size() < 3) {
    return out;
  }
  const Estimate &fast = retrieval->groups[0].increase, &slow = retrieval->groups[2].increase;
  if (retrieval->accuracy && retrieval->chance && *retrieval->accuracy < 2.0 * *retrieval->chance) {
    out.text += str("; the model hardly retrieves (", percent(*retrieval->accuracy),
                    " right, chance ", percent(*retrieval->chance), "), so nothing can be lost");
    return out;
  }
  out.verdict = slow.lo > fast.hi   ? Verdict::Holds
                : slow.hi < fast.lo ? Verdict::Fails
                                    : Verdict::Open;
  out.text += "; nats per token, 95 % intervals paired by row or item";
  return out;
}

Finding bound(const Analysis& a) {
  std::vector<double> reached;
  for (const LayerRecord& layer : a.layers) {
    for (const HeadRecord& head : layer.heads) {
      if (head.bound > 0.0) {
        reached.push_back(head.logit / head.bound);
      }
    }
  }
  Finding out{"bound", "Long queries and keys alone make no large logit: few heads align them",
              Verdict::Open, "no head has a bound above 0"};
  if (reached.empty()) {
    return out;
  }
  const auto aligned =
      std::count_if(reached.begin(), reached.end(), [](double share) { return share >= kAligned; });
  out.verdict = verdict_of(2 * aligned < static_cast<int64_t>(reached.size()));
  out.text =
      str("attended logits reach ", percent(mean_of(reached)),
          " of the bound sum over pairs of |q_m||k_m| on average over heads, ",
          percent(*std::max_element(reached.begin(), reached.end())), " in the most aligned one; ",
          aligned, " of ", reached.size(), " heads reach half of it");
  return out;
}

}  // namespace

const char* name_of(Verdict verdict) {
  return verdict == Verdict::Holds ? "holds" : verdict == Verdict::Fails ? "does not hold" : "open";
}

std::vector<Finding> find(const Analysis& a) {
  std::vector<Finding> out;
  if (a.usage.n_rotating > 0) {
    out = {low_frequencies(a), control(a), ends(a), domains(a)};
  }
  out.push_back(positional_heads(a));
  if (a.usage.n_rotating > 0) {
    for (Finding (*each)(const Analysis&) :
         {high_of_positional, dominant, sign_change, slow_carry_content, bound}) {
      out.push_back(each(a));
    }
  }
  return out;
}

}  // namespace gyre::analyze

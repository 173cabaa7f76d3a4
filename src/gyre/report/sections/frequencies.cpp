// Frequencies: spectra, trajectories and the table of bands, each only where there is something.
#include <algorithm>
#include <cmath>

#include "gyre/base/error.h"
#include "gyre/report/section.h"
#include "gyre/report/sections/bands.h"

namespace gyre::report {
namespace {

std::string change(int64_t before, int64_t after) {
  return whole(before) + " \u2192 " + whole(after);
}

std::string band_table(const Comparison& c) {
  Table table(
      "bands",
      "Bands of the trained models " + tag(Evidence::Measured) +
          ". Dominant: the pair whose contribution to the attention scores varies most with "
          "distance. Slow: pairs that turn by less than 0.05 of a circle over the training "
          "length. Gathered: pairs with a wavelength of 1.8 to 2.4 training lengths.");
  table.column("Arm");
  table.column("Seed", Align::Right);
  table.column("Dominant pair", Align::Right);
  table.column("Its wavelength", Align::Right);
  table.column("Over training length", Align::Right);
  table.column("Strength over second", Align::Right);
  table.column("Slow, before \u2192 after", Align::Right);
  table.column("Gathered, before \u2192 after", Align::Right);
  const auto length = static_cast<double>(c.settings.length);
  for (const Frequencies& f : c.frequencies) {
    const Dominant d = f.dominant.value_or(Dominant{});
    table.row(
        {arm_label(c, f.arm), std::to_string(f.seed), f.dominant ? whole(d.band) : "\u2013",
         short_number(d.wavelength), f.dominant ? fixed(d.over_train_length, 2) : "\u2013",
         f.dominant ? fixed(d.ratio, 2) : "\u2013",
         change(count_suppressed(f.initial, length), static_cast<int64_t>(f.suppressed.size())),
         change(count_gathered(f.initial, length), f.gathered)});
  }
  return table.html();
}

Csv band_csv(const Comparison& c) {
  Csv csv({"arm", "seed", "learned", "dominant_band", "dominant_wavelength",
           "dominant_over_train_length", "dominant_ratio", "slow_before", "slow_after",
           "gathered_before", "gathered_after", "evidence"});
  const auto length = static_cast<double>(c.settings.length);
  for (const Frequencies& f : c.frequencies) {
    const Dominant d = f.dominant.value_or(Dominant{});
    csv.row(f.arm, f.seed, f.learned ? "yes" : "no", f.dominant ? std::to_string(d.band) : "",
            d.wavelength, d.over_train_length, d.ratio, count_suppressed(f.initial, length),
            static_cast<int64_t>(f.suppressed.size()), count_gathered(f.initial, length),
            f.gathered, "measured (before: analytic)");
  }
  return csv;
}

}  // namespace

Section frequency_section(const Comparison& c) {
  Section section("frequencies", "Frequencies");
  const bool rotates =
      std::any_of(c.frequencies.begin(), c.frequencies.end(),
                  [](const Frequencies& f) { return !f.initial.empty() || !f.final.empty(); });
  if (!rotates) {
    section.left_out("no arm rotates queries and keys");
    return section;
  }
  section.figure(spectra_figure(c));
  Figure trajectories = trajectory_figure(c);
  if (trajectories.panels.empty()) {
    section.left_out("trajectories of wavelengths, because no arm learns its frequencies");
  } else {
    section.figure(std::move(trajectories));
  }
  section.html(band_table(c));
  section.html("<p class=\"file\">Data: <a href=\"figures/bands.csv\">figures/bands.csv</a></p>\n");
  section.files.push_back({"bands", band_csv(c)});
  return section;
}

}  // namespace gyre::report

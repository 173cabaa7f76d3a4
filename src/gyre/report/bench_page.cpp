#include "gyre/report/bench_page.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "gyre/base/error.h"
#include "gyre/report/figure.h"
#include "gyre/report/sections/bands.h"
#include "gyre/report/standalone.h"

namespace gyre::report {
namespace {

using bench::Record;
using bench::Row;

std::string section(const std::string& id, const std::string& title, const std::string& body) {
  return "<section id=\"" + id + "\">\n<h2>" + escape(title) + "</h2>\n" + body + "</section>\n";
}

std::string ratio_text(const Row& row) {
  const std::string value = fixed(row.ratio, 2);
  return std::isfinite(row.ci95.lo) ? value + " <small>(" + fixed(row.ci95.lo, 2) + " to " +
                                          fixed(row.ci95.hi, 2) + ")</small>"
                                    : value;
}

std::string rows_table(const Record& record) {
  Table table("rows",
              "<b>Ours against the peer.</b> Medians over rounds that alternate; 95 % "
              "intervals of the ratio over rounds " +
                  tag(Evidence::Measured));
  table.column("what");
  for (const char* title : {"ours", "peer", "ratio"}) {
    table.column(title, Align::Right);
  }
  for (const char* title : {"unit", "ratio is", "peer is", "note"}) {
    table.column(title);
  }
  for (const Row& row : record.rows) {
    table.row({escape(row.what), short_number(row.ours), short_number(row.peer), ratio_text(row),
               escape(row.unit), escape(row.ratio_is), escape(row.peer_name), escape(row.note)});
  }
  return table.html();
}

std::string profile_table(const Record& record) {
  constexpr double kLeast = 0.005;
  Table table("profile",
              "<b>Where a step of ours goes</b>, operators with at least half a percent of it, "
              "without the operators they call " +
                  tag(Evidence::Measured));
  table.column("operator");
  for (const char* title :
       {"calls per step", "ms per step", "share", "GFLOP/s", "GB/s", "of the roofline"}) {
    table.column(title, Align::Right);
  }
  for (const bench::OpShare& op : record.profile) {
    if (op.share < kLeast) {
      continue;
    }
    const auto known = [](double value) { return value > 0 ? short_number(value) : fixed(NAN, 0); };
    table.row({escape(op.name), short_number(op.calls), fixed(op.ms, 2), percent(op.share),
               known(op.gflops), known(op.gbytes_per_s), percent(op.roofline)});
  }
  return table.html();
}

/// Curves over the length: one arm per series, ours filled and drawn through, the peer hollow and
/// dashed.
class Curves {
 public:
  Curves(const Record& record, std::string unit) : record_(record), unit_(std::move(unit)) {}

  bool any() const {
    return std::any_of(record_.rows.begin(), record_.rows.end(),
                       [this](const Row& row) { return drawn(row); });
  }

  Figure figure(const std::string& id, const std::string& title, const std::string& axis) {
    Figure out;
    out.id = id;
    out.title = title;
    out.shows = "Filled and drawn through: ours; hollow and dashed: the peer.";
    out.not_shown = "other machines, thread counts and shapes";
    out.formula = "median over rounds";
    out.alt = title + ", both axes logarithmic";
    out.evidence = {Evidence::Measured};
    out.csv = Csv({"series", "tokens", "ours, " + unit_, "peer, " + unit_, "ratio"});
    Panel panel;
    panel.height = 420;
    panel.x.title = "tokens per sequence";
    panel.x.log = true;
    panel.y.title = axis;
    for (const Row& row : record_.rows) {
      if (drawn(row)) {
        add(row, panel, out.csv);
      }
    }
    set_ticks(panel);
    for (const std::string& name : names_) {
      Key key;
      key.label = name;
      key.arm = arm_of(name);
      key.toggles = false;
      out.keys.push_back(std::move(key));
    }
    out.panels.push_back(std::move(panel));
    return out;
  }

 private:
  bool drawn(const Row& row) const { return row.unit == unit_ && std::isfinite(row.x); }

  int arm_of(const std::string& series) const {
    return static_cast<int>(std::find(names_.begin(), names_.end(), series) - names_.begin());
  }

  Trace& trace_of(Panel& panel, const std::string& series, bool ours) {
    const std::string name = series + (ours ? ", ours" : ", peer");
    for (Trace& trace : panel.traces) {
      if (trace.name == name) {
        return trace;
      }
    }
    if (std::find(names_.begin(), names_.end(), series) == names_.end()) {
      names_.push_back(series);
    }
    Trace trace;
    trace.name = name;
    trace.arm = arm_of(series);
    trace.markers = true;
    trace.open = !ours;
    trace.dash = ours ? "" : "dash";
    panel.traces.push_back(std::move(trace));
    return panel.traces.back();
  }

  void add(const Row& row, Panel& panel, Csv& csv) {
    csv.row(row.series, row.x, row.ours, row.peer, row.ratio);
    for (const bool ours : {true, false}) {
      const double value = ours ? row.ours : row.peer;
      if (std::isfinite(value)) {
        Trace& trace = trace_of(panel, row.series, ours);
        trace.x.push_back(row.x);
        trace.y.push_back(value);
        xs_.push_back(row.x);
        ys_.push_back(value);
      }
    }
  }

  void set_ticks(Panel& panel) const {
    const Interval x = span_of(xs_), y = span_of(ys_);
    panel.x.lo = x.lo / 1.2;
    panel.x.hi = x.hi * 1.2;
    std::vector<double> lengths = xs_;
    std::sort(lengths.begin(), lengths.end());
    lengths.erase(std::unique(lengths.begin(), lengths.end()), lengths.end());
    for (const double length : lengths) {
      panel.x.ticks.push_back(length);
      panel.x.tick_text.push_back(short_number(length));
    }
    decade_ticks(panel.y, y.lo / 1.5, y.hi * 1.5);
  }

  const Record& record_;
  std::string unit_;
  std::vector<std::string> names_;
  std::vector<double> xs_, ys_;
};

/// Step times by round: shows drift and outliers that a median hides.
Figure rounds_figure(const Record& record) {
  Figure out;
  out.id = "rounds";
  out.title = "Step time by round";
  out.shows = "Sides take turns within a round, so a busy moment hits all of them.";
  out.not_shown = "warm-up steps";
  out.formula = "ms of one whole training step";
  out.alt = "milliseconds against round, one line per side";
  out.evidence = {Evidence::Measured};
  out.csv = Csv({"side", "round", "ms"});
  Panel panel;
  panel.height = 380;
  panel.x.title = "round";
  panel.y.title = "ms";
  std::map<std::string, bool> known;
  const auto add = [&](const std::string& name, const std::vector<double>& ms) {
    if (ms.empty() || known[name]) {
      return;
    }
    known[name] = true;
    Trace trace;
    trace.name = name;
    trace.arm = static_cast<int>(panel.traces.size());
    trace.markers = true;
    for (size_t i = 0; i < ms.size(); ++i) {
      trace.x.push_back(static_cast<double>(i + 1));
      trace.y.push_back(ms[i]);
      out.csv.row(name, static_cast<int64_t>(i + 1), ms[i]);
    }
    Key key;
    key.label = name;
    key.arm = trace.arm;
    key.toggles = false;
    out.keys.push_back(key);
    panel.traces.push_back(std::move(trace));
  };
  for (const Row& row : record.rows) {
    if (row.unit == "ms" && !std::isfinite(row.x)) {
      add("ours, " + row.series, row.ours_samples);
      add(row.peer_name + ", " + row.series, row.peer_samples);
    }
  }
  out.panels.push_back(std::move(panel));
  return out;
}

std::string about(const Record& record) {
  const bench::Machine& m = record.machine;
  std::string out = "<p>" + escape(m.cpu) + "; kernels " + escape(m.isa) + "; " +
                    std::to_string(m.threads) + " threads; torch " + escape(m.torch) +
                    (m.peer.empty() ? "" : "; peer " + escape(m.peer)) + "; revision <code>" +
                    escape(m.build_revision) + "</code>; " + escape(record.date) + "; took " +
                    duration(record.seconds) + "</p>\n<p><b>Command:</b> <code>" +
                    escape(record.command) + "</code></p>\n";
  return out + (record.notes.empty() ? "" : bullet_list(record.notes));
}

}  // namespace

std::string bench_page(const Record& record, const std::string& plotly_js) {
  std::vector<Figure> figures;
  Curves times(record, "ms"), peaks(record, "MiB");
  if (times.any()) {
    figures.push_back(times.figure("time", "Time of one forward and backward", "ms"));
  }
  if (peaks.any()) {
    figures.push_back(peaks.figure("memory", "Peak memory of the process", "MiB"));
  }
  if (record.what == "train") {
    figures.push_back(rounds_figure(record));
  }
  std::string drawn;
  std::vector<const Figure*> pointers;
  for (const Figure& figure : figures) {
    pointers.push_back(&figure);
    drawn += standalone_figure(figure, static_cast<int>(pointers.size()));
  }
  const std::string rows = section("rows-section", "Results", rows_table(record));
  const std::string plots = drawn.empty() ? "" : section("figures-section", "Figures", drawn);
  // A cost against length is read off its curve, a comparison off its table.
  std::string body = record.what == "length" ? plots + rows : rows + plots;
  if (!record.profile.empty()) {
    body += section("profile-section", "Where the time goes", profile_table(record));
  }
  body += section("made-section", "How this was made", about(record));
  return standalone_page(record.title, "gyre bench " + record.what, body, pointers, plotly_js);
}

}  // namespace gyre::report

// A figure as data: panels of traces with axes and marker lines, a caption and its CSV. page.js
// draws the panels with Plotly; colours and symbols come from the place of an arm in the list, so
// an arm looks the same in every figure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "gyre/report/csv.h"
#include "gyre/report/html.h"

namespace gyre::report {

inline constexpr int kNoArm = -1;  // drawn in grey

struct Trace {
  std::string name;  // in the hover label
  int arm = kNoArm;
  std::vector<double> x, y;
  std::vector<double> minus, plus;  // error bars: lengths below and above; empty = none
  char error_axis = 'y';
  std::vector<std::string> text;  // per point, shown in the hover label
  bool lines = true;
  bool markers = false;
  bool open = false;  // hollow markers
  bool key = true;    // hidden and shown by the legend of its arm
  double opacity = 1;
  double width = 2;
  double size = 7.5;   // of markers, px
  std::string dash;    // "" = the arm's; dot | dash | longdash
  std::string symbol;  // "" = the arm's
};

/// A straight line across the panel with a label: zero, training length, chance.
struct Marker {
  char axis = 'x';  // the axis on which `value` lies
  double value = 0;
  std::string label;
  bool below = false;  // label under a horizontal line, left of a vertical one
  std::string dash = "dash";
};

struct Axis {
  std::string title;
  bool log = false;
  std::optional<double> lo, hi;
  std::vector<double> ticks;
  std::vector<std::string> tick_text;
  bool reversed = false;
};

/// A map of values in rows and columns, drawn under the traces; the first row lies at y = 0.
struct Heat {
  std::vector<std::vector<double>> z;           // [row][column]; NaN = left blank
  std::vector<std::vector<std::string>> text;   // per cell, in the hover label; or empty
  std::string value;                            // what z is, in the hover label
  std::optional<double> lo, hi;                 // ends of the colour scale
  std::vector<std::vector<std::string>> label;  // per cell, written in it, lines by '\n'; or empty
  bool quality = false;    // 0 is bad, 1 good: colours of FAIL and PASS, blanks grey, no colour bar
  bool diverging = false;  // two colours that meet in the middle of lo, hi
};

struct Panel {
  std::string title;
  Axis x, y;
  std::vector<Trace> traces;
  std::vector<Marker> markers;
  int height = 320;  // px
  std::optional<Heat> heat;
  bool exports = false;  // buttons that save the panel as PNG and SVG
};

struct Key {
  std::string label;
  int arm = kNoArm;
  bool line = true;
  bool symbol = true;
  bool open = false;
  bool dotted = false;
  bool patch = false;   // a square of a map's colour instead of line and symbol
  bool toggles = true;  // clicking it hides the arm
};

struct Figure {
  std::string id;         // also the name of the CSV: figures/<id>.csv
  std::string title;      // plain text
  std::string shows;      // HTML: what is drawn
  std::string not_shown;  // plain text: what must not be read from it
  std::string formula;    // plain text
  std::string alt;        // plain text for people who cannot see it
  std::vector<Evidence> evidence;
  std::vector<Key> keys;
  std::vector<Panel> panels;
  Csv csv;
};

/// Number of colours; arms past it repeat them with a dash and other symbols.
inline constexpr int kColours = 8;

/// Adds a key for every arm that a panel draws, in the order of `comparison.arms`; `look` says
/// whether lines and symbols are drawn.
void add_arm_keys(Figure& figure, const Comparison& comparison, const Key& look = {});

/// Whole figure as HTML; `number` counts from 1 over the page. `method` is the HTML that says with
/// which command and revision the numbers were made.
std::string figure_html(const Figure& figure, int number, const std::string& method);

/// All panels as JSON for page.js, safe inside a <script> element.
std::string figures_json(const std::vector<const Figure*>& figures);

/// Small picture of the line and symbol of a key.
std::string swatch(const Key& key);

/// An arm's name with its symbol, for tables.
std::string arm_label(const Comparison& comparison, const std::string& arm);

/// Smallest and largest finite value; {NaN, NaN} when there is none.
Interval span_of(const std::vector<double>& values);

}  // namespace gyre::report

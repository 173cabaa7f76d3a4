#include "gyre/report/report.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <system_error>

#include "gyre/base/error.h"
#include "gyre/base/files.h"
#include "gyre/report/comparison.h"
#include "gyre/report/page.h"

namespace gyre::report {
namespace fs = std::filesystem;
namespace {

// Every CSV a report may have: those that are not written this time are removed, so that no figure
// of an older compare.json stays behind.
constexpr const char* kNames[] = {"arms",    "bands",    "difference",  "extrapolation",
                                  "needle",  "overhead", "position",    "published",
                                  "spectra", "training", "trajectories"};

std::map<std::string, const Csv*> csv_files(const std::vector<Section>& sections) {
  std::map<std::string, const Csv*> out;
  for (const Section& section : sections) {
    for (const DataFile& file : section.files) {
      out[file.id] = &file.csv;
    }
    for (const auto& block : section.body) {
      if (const Figure* figure = std::get_if<Figure>(&block)) {
        out[figure->id] = &figure->csv;
      }
    }
  }
  return out;
}

fs::path running_dir() {
  std::error_code ignored;
  return fs::read_symlink("/proc/self/exe", ignored).parent_path();
}

}  // namespace

fs::path find_plotly(const fs::path& program_dir) {
  const fs::path dir = program_dir.empty() ? running_dir() : program_dir;
  std::vector<fs::path> places = {dir / "share/gyre/plotly.min.js",
                                  dir.parent_path() / "share/gyre/plotly.min.js"};
  if (const char* given = std::getenv("GYRE_PLOTLY_JS"); given != nullptr && *given != '\0') {
    places.emplace_back(given);
  }
  std::error_code ignored;
  for (const fs::path& place : places) {
    if (fs::is_regular_file(place, ignored)) {
      return place;
    }
  }
  std::string looked;
  for (const fs::path& place : places) {
    looked += (looked.empty() ? "" : ", ") + place.string();
  }
  throw Error(Code::File, "plotly.min.js not found; looked for ", looked,
              "; set GYRE_PLOTLY_JS to the file of the PyPI package plotly "
              "(plotly/package_data/plotly.min.js)");
}

void write_report(const fs::path& out_dir) {
  const fs::path source = out_dir / "compare.json";
  const Comparison comparison = parse_comparison(read_file(source), source.string());
  const std::vector<Section> sections = make_sections(comparison);
  const std::string page = page_html(comparison, sections, read_file(find_plotly()));
  const fs::path figures = out_dir / "figures";
  std::error_code fault;
  fs::create_directories(figures, fault);
  if (fault) {
    throw Error(Code::File, figures.string(), ": cannot create: ", fault.message());
  }
  const auto files = csv_files(sections);
  for (const char* name : kNames) {
    if (files.count(name) == 0) {
      fs::remove(figures / (std::string(name) + ".csv"), fault);
    }
  }
  for (const auto& [name, csv] : files) {
    write_file_atomic(figures / (name + ".csv"), csv->text());
  }
  write_file_atomic(out_dir / "report.html", page);  // last: a page never lacks its CSV files
}

std::vector<fs::path> report_files(const fs::path& out_dir) {
  std::vector<fs::path> out = {out_dir / "report.html"};
  std::error_code ignored;
  for (const char* name : kNames) {
    const fs::path path = out_dir / "figures" / (std::string(name) + ".csv");
    if (fs::is_regular_file(path, ignored)) {
      out.push_back(path);
    }
  }
  return out;
}

}  // namespace gyre::report

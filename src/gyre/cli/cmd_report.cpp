// gyre report DIR: report.html and figures/*.csv again from DIR/compare.json.
#include <CLI/CLI.hpp>
#include <filesystem>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "gyre/base/error.h"
#include "gyre/cli/verb.h"
#include "gyre/report/report.h"

namespace gyre::cli {
namespace {

struct ReportVerb {
  std::string dir;
  std::string json;
};

std::string paths_json(const std::vector<std::filesystem::path>& paths) {
  nlohmann::ordered_json out = {{"schema", "gyre.report/1"}, {"report", paths.front().string()}};
  out["figures"] = nlohmann::ordered_json::array();
  for (size_t i = 1; i < paths.size(); ++i) {
    out["figures"].push_back(paths[i].string());
  }
  return out.dump(1);
}

int run_report(const ReportVerb& verb) {
  const std::filesystem::path dir = verb.dir;
  if (!std::filesystem::is_regular_file(dir / "compare.json")) {
    throw Error(Code::File, "report: no ", (dir / "compare.json").string(),
                "; give the folder that gyre compare --out wrote");
  }
  report::write_report(dir);
  const std::vector<std::filesystem::path> paths = report::report_files(dir);
  CommonOptions common;
  common.json = verb.json;
  write_json(common, paths_json(paths));
  if (verb.json != "-") {
    for (const std::filesystem::path& path : paths) {
      std::cout << path.string() << '\n';
    }
  }
  return 0;
}

}  // namespace

// No --config, --device or --threads: the page is a pure function of compare.json.
Action add_report(CLI::App& app) {
  const auto verb = std::make_shared<ReportVerb>();
  app.add_option("dir", verb->dir, "folder with compare.json, written by gyre compare")
      ->type_name("DIR")
      ->required();
  app.add_option("--json", verb->json, "write the paths as one JSON object to PATH; - = stdout")
      ->type_name("PATH")
      ->group("General");
  app.footer("The same compare.json always gives the same bytes. See docs/report.md.");
  return [verb] { return run_report(*verb); };
}

}  // namespace gyre::cli

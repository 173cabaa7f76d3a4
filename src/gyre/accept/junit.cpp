// JUnit XML, as CI systems read it: a suite per level, a case per rung and cell; one more suite
// whose cases are the findings. What is undecided fails: it is no acceptance.
#include <iomanip>
#include <sstream>

#include "gyre/accept/result.h"
#include "gyre/accept/result_words.h"
#include "gyre/base/error.h"

namespace gyre::accept {
namespace {

/// Text as XML may hold it: markup escaped, characters that XML forbids and bytes that are no
/// UTF-8 replaced.
std::string xml(const std::string& text) {
  std::string out;
  for (const char c : clean_utf8(text)) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\n':
        out += "&#10;";
        break;
      case '\t':
        out += "&#9;";
        break;
      default:
        out += static_cast<unsigned char>(c) < 0x20 ? '?' : c;
    }
  }
  return out;
}

struct Case {
  std::string name, text;
  Status status = Status::Pass;
  std::string message, kind = "fail";  // of a failure
};

struct Suite {
  std::string name;
  std::vector<Case> cases;

  int64_t count(bool skipped) const {
    int64_t n = 0;
    for (const Case& one : cases) {
      n += skipped ? one.status == Status::NotRun
                   : one.status == Status::Fail || one.status == Status::Undecided;
    }
    return n;
  }
};

std::string evidence_text(const std::vector<std::string>& evidence) {
  return evidence.empty() ? "" : "evidence: " + joined(evidence, " ");
}

Case rung_case(const Rung& rung) {
  Case out;
  out.name = str(rung.length, " tokens, ", name_of(rung.api));
  out.status = rung.status;
  out.message = rung.says;
  out.text = evidence_text(rung.evidence);
  return out;
}

Case cell_case(const Cell& cell) {
  Case out;
  out.name = str(cell.task, ", ", cell.length, " tokens", dials_text(cell.dials));
  out.status = cell.status;
  out.message = cell_message(cell);
  out.text = evidence_text(cell.failures);
  return out;
}

Case finding_case(const Finding& finding) {
  const FindingKind& kind = finding_kind(finding.id);
  Case out;
  out.name = finding.id;
  out.status = kind.severity == Severity::Fault ? Status::Fail : Status::Pass;
  out.message = str(name_of(kind.severity), ": ", finding.says);
  out.text = str(kind.title, "\n", finding.says, "\n", evidence_text(finding.evidence));
  return out;
}

std::vector<Suite> suites_of(const Acceptance& a) {
  std::vector<Suite> out;
  for (const int64_t level : a.options.levels) {
    Suite suite{str("level ", level, ", ", level_title(level)), {}};
    if (level == 1) {
      for (const Rung& rung : a.one.rungs) {
        suite.cases.push_back(rung_case(rung));
      }
    }
    for (const Cell& cell : a.cells) {
      if (cell.level == level && cell.arm == "main") {
        suite.cases.push_back(cell_case(cell));
      }
    }
    if (suite.cases.empty()) {  // a level without a row of its own still has its verdict
      for (const LevelVerdict& verdict : a.levels) {
        if (verdict.level == level) {
          suite.cases.push_back({"verdict", verdict.says, verdict.status, verdict.says});
        }
      }
    }
    out.push_back(std::move(suite));
  }
  Suite findings{"findings", {}};
  for (const Finding& finding : a.findings) {
    findings.cases.push_back(finding_case(finding));
  }
  out.push_back(std::move(findings));
  return out;
}

void write_case(std::ostream& out, const std::string& suite, const Case& one) {
  out << "    <testcase classname=\"gyre.accept." << xml(suite) << "\" name=\"" << xml(one.name)
      << "\" time=\"0\">\n";
  if (one.status == Status::NotRun) {
    out << "      <skipped message=\"" << xml(one.message) << "\"/>\n";
  } else if (one.status != Status::Pass) {
    out << "      <failure type=\"" << (one.status == Status::Fail ? "FAIL" : "UNDECIDED")
        << "\" message=\"" << xml(one.message) << "\">" << xml(one.text) << "</failure>\n";
  } else if (!one.message.empty()) {
    out << "      <system-out>" << xml(one.message) << "</system-out>\n";
  }
  out << "    </testcase>\n";
}

}  // namespace

std::string to_junit(const Acceptance& a) {
  const std::vector<Suite> suites = suites_of(a);
  size_t tests = 0;
  int64_t failures = 0, skipped = 0;
  for (const Suite& suite : suites) {
    tests += suite.cases.size();
    failures += suite.count(false);
    skipped += suite.count(true);
  }
  std::ostringstream out;
  out << "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"gyre accept "
      << xml(a.subject) << "\" tests=\"" << tests << "\" failures=\"" << failures
      << "\" errors=\"0\" skipped=\"" << skipped << "\" time=\"" << std::fixed
      << std::setprecision(3) << a.cost.seconds << "\">\n";
  for (const Suite& suite : suites) {
    out << "  <testsuite name=\"" << xml(suite.name) << "\" tests=\"" << suite.cases.size()
        << "\" failures=\"" << suite.count(false) << "\" errors=\"0\" skipped=\""
        << suite.count(true) << "\" time=\"0\">\n";
    for (const Case& one : suite.cases) {
      write_case(out, suite.name, one);
    }
    out << "  </testsuite>\n";
  }
  out << "</testsuites>\n";
  return out.str();
}

}  // namespace gyre::accept

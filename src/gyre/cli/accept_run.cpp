// Runs, plans and shows for cmd_accept.cpp.
#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <iostream>
#include <optional>

#include "gyre/accept/acceptance.h"
#include "gyre/accept/facts_file.h"
#include "gyre/accept/plan.h"
#include "gyre/accept/regression.h"
#include "gyre/accept/result_words.h"
#include "gyre/accept/show.h"
#include "gyre/base/error.h"
#include "gyre/base/files.h"
#include "gyre/base/progress.h"
#include "gyre/cli/accept_verb.h"
#include "gyre/cli/local_subject.h"
#include "gyre/report/accept_page.h"
#include "gyre/report/report.h"
#include "gyre/train/revision.h"

namespace gyre::cli {
namespace {

namespace fs = std::filesystem;
using accept::Acceptance;
using accept::Plan;
using accept::Record;
using accept::Reply;
using accept::Sample;
using accept::Session;
using accept::Subject;

OpenLocal& open_local_hook() {
  static OpenLocal open;
  return open;
}

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%d %H:%M UTC", &parts);
  return text;
}

/// What decides the items and verdicts of a run. Prices, clocks and requests in flight do not.
std::map<std::string, std::string> settings_of(const AcceptVerb& verb) {
  std::map<std::string, std::string> out;
  accept::AcceptOptions options = verb.accept;
  for (const Field& field : fields_of(options)) {
    const bool free = field.name == "concurrency" || field.name == "price-in" ||
                      field.name == "price-out" || field.name == "ask-above";
    if (!free) {
      out[field.name] = field.get();
    }
  }
  out["model"] = verb.model;
  out["generator"] = str(accept::kGeneratorVersion);
  if (verb.remote()) {
    out["endpoint"] = verb.endpoint.url;
  } else {
    out["dtype"] = verb.local.dtype;
  }
  return out;
}

std::string key_of(const AcceptVerb& verb) {
  const char* key = std::getenv(verb.key_variable().c_str());
  return key == nullptr ? "" : key;
}

std::unique_ptr<Subject> open_subject(const AcceptVerb& verb) {
  if (!verb.remote()) {
    if (!local_subject()) {
      throw Error(Code::Usage,
                  "accept: a model in process needs gyre-torch; start it as: gyre "
                  "accept --model PATH, or give --endpoint URL");
    }
    accept::LocalOptions local = verb.local;
    local.model = verb.model;
    return local_subject()(local, verb.common);
  }
  accept::EndpointOptions endpoint = verb.endpoint;
  endpoint.model = verb.model;
  endpoint.key = key_of(verb);
  endpoint.stream = verb.accept.stream;
  endpoint.send = verb.accept.send;
  return accept::open_endpoint(endpoint);
}

/// Asks for --yes when even a run that decides early sends more than --ask-above requests.
void ask_first(const AcceptVerb& verb, const Plan& planned) {
  if (!verb.yes && planned.least.requests > verb.accept.ask_above) {
    throw Error(Code::Usage, "accept: this run sends ", accept::grouped(planned.least.requests),
                " to ", accept::grouped(planned.most.requests), " requests, above --ask-above ",
                accept::grouped(verb.accept.ask_above),
                "; add --yes, or see it with: gyre accept plan");
  }
}

/// Nothing is there, the key is refused, or the server knows no such model or path.
bool is_wrong_address(const Reply& reply) {
  const bool refused = reply.fault == accept::Fault::Client && reply.http >= 400;
  return refused || reply.fault == accept::Fault::Connect || reply.fault == accept::Fault::Auth;
}

struct Silence {
  const char* found;
  std::string advice;
};

Silence silence_of(const AcceptVerb& verb, const Reply& reply) {
  if (reply.fault == accept::Fault::Auth) {
    const std::string variable = verb.key_variable();
    const bool set = std::getenv(variable.c_str()) != nullptr;
    return {"the key refused", set ? "put the right key into " + variable
                                   : "put a key into the variable " + variable +
                                         ", which is not set, or name another with --key-env"};
  }
  if (reply.fault == accept::Fault::Client) {
    return {"every request refused", verb.accept.send.empty()
                                         ? "correct --model or --endpoint; a field that it does "
                                           "not take is left out with e.g. --send "
                                           "'{\"temperature\":null}'"
                                         : "correct --send, --model or --endpoint"};
  }
  if (reply.fault == accept::Fault::Connect) {
    return {"no connection", "start the server or correct --endpoint"};
  }
  return {"no answer", "correct --endpoint, or see what stands there"};
}

[[noreturn]] void refuse(const AcceptVerb& verb, Record& record) {
  const std::vector<Sample> samples = record.samples();
  const Reply& last = samples.back().reply;
  const size_t n = samples.size();
  record.clear();
  const Silence silence = silence_of(verb, last);
  throw Error(Code::Remote, "accept: asked ", verb.endpoint.url, " ", n,
              n == 1 ? " time" : " times", ", found ", silence.found,
              last.http > 0 ? str(" with HTTP ", last.http) : "",
              last.fault_text.empty() ? "" : " (" + accept::one_line(last.fault_text) + ")", "; ",
              silence.advice);
}

/// Throws when no attempt of the run got an answer, or not even one that a finding is about: there
/// is nothing to judge, and the same command must ask again.
void refuse_silence(const AcceptVerb& verb, Record& record, const Acceptance& result) {
  const std::vector<Sample> samples = record.samples();
  const auto all = [&](const auto& test) {
    return std::all_of(samples.begin(), samples.end(), test);
  };
  const bool wrong_address = all([](const Sample& one) { return is_wrong_address(one.reply); });
  const bool nothing = all([](const Sample& one) { return !one.reply.answered(); });
  if (verb.remote() && !samples.empty() &&
      (wrong_address || (nothing && result.findings.empty()))) {
    refuse(verb, record);
  }
}

/// Nothing at the address answers: there is no use in asking on.
class Silent {};

/// Throws Silent after a few items that all found a wrong address, if none ever got an answer.
class Contact {
 public:
  explicit Contact(bool made) : made_(made) {}
  void see(const Reply& reply) {
    constexpr int64_t kPatience = 6;
    made_ = made_ || !is_wrong_address(reply);
    if (!made_ && ++in_vain_ >= kPatience) {
      throw Silent{};
    }
  }

 private:
  bool made_;
  int64_t in_vain_ = 0;
};

class Bar {
 public:
  Bar(const Plan& planned, int64_t done)
      : progress_("accept", planned.least.requests, "requests"), done_(done) {}
  void step(const Sample& sample) {
    progress_.update(++done_, str("level ", sample.item.level, " ", sample.item.task, ", ",
                                  accept::grouped(sample.item.length),
                                  " tokens: ", accept::name_of(sample.verdict)));
  }

 private:
  Progress progress_;
  int64_t done_;
};

/// --force throws a run away: only when there is something to ask anew.
void look_before_force(const AcceptVerb& verb, Subject& subject) {
  if (!verb.force || !verb.remote() || !fs::exists(fs::path(verb.out) / "samples.jsonl")) {
    return;
  }
  const auto facts = subject.discover();
  if (const auto why = facts.other.find("unreachable"); why != facts.other.end()) {
    throw Error(Code::Remote, "accept: asked ", verb.endpoint.url, ", found no connection (",
                accept::one_line(why->second),
                "); start the server or correct --endpoint; the run "
                "in ",
                verb.out, " is still there");
  }
}

Acceptance go(const AcceptVerb& verb, const Plan& planned) {
  std::unique_ptr<Subject> opened = open_subject(verb);  // a wrong URL leaves no folder behind
  look_before_force(verb, *opened);
  Record record(verb.out, settings_of(verb), verb.force);
  accept::FactsKeeper subject(std::move(opened), fs::path(verb.out) / "facts.json");
  accept::SessionOptions session_options;
  session_options.concurrency = verb.accept.concurrency;
  session_options.attempts = verb.attempts;
  session_options.longest_wait_s = verb.longest_wait_s;
  session_options.seed = static_cast<uint64_t>(verb.accept.seed);
  Acceptance result;
  {
    Bar bar(planned, record.size());
    Contact contact(!verb.remote() || record.size() > 0);
    Session session(subject, record, session_options, [&](const Sample& sample) {
      bar.step(sample);
      contact.see(sample.reply);
    });
    try {
      result = accept::accept(session, record, verb.accept);
    } catch (const Silent&) {
      refuse(verb, record);
    }
  }
  refuse_silence(verb, record, result);
  result.command = command_text();
  result.build_revision = train::build_revision();
  result.date = utc_now();
  return result;
}

/// Results go beside the run's own files, not over them.
void check_outputs(const AcceptVerb& verb) {
  check_output("--json", verb.common.json);
  check_output("--junit", verb.junit);
  if (verb.junit == "-" && verb.common.json == "-") {
    throw Error(Code::Usage,
                "accept: --json - and --junit - both want standard output; give one a file");
  }
  const auto place = [](const std::string& path) {
    return path.empty() || path == "-" ? fs::path() : fs::weakly_canonical(path);
  };
  const fs::path json = place(verb.common.json), junit = place(verb.junit);
  if (!json.empty() && json == junit) {
    throw Error(Code::Usage, "accept: --json and --junit name the same file ", json.string(),
                "; give each its own");
  }
  for (const auto& [flag, path] : {std::pair{"--json", json}, std::pair{"--junit", junit}}) {
    for (const char* own :
         {"run.json", "samples.jsonl", "facts.json", "accept.json", "report.html"}) {
      if (!path.empty() && path == place((fs::path(verb.out) / own).string())) {
        throw Error(Code::Usage, "accept: ", flag, " ", path.string(),
                    " is a file of the run itself; give another name");
      }
    }
  }
}

}  // namespace

void use_local_subject(OpenLocal open) {
  open_local_hook() = std::move(open);
}

const OpenLocal& local_subject() {
  return open_local_hook();
}

int run_accept(AcceptVerb& verb) {
  (void)report::find_plotly();  // before anything is sent
  check_outputs(verb);
  if (!verb.accept.before.empty()) {
    (void)accept::Before(verb.accept.before, verb.accept, verb.out);
  }
  const Plan planned = accept::plan(verb.accept);
  ask_first(verb, planned);
  Acceptance result;
  try {
    result = go(verb, planned);
  } catch (const accept::Interrupted& stopped) {
    std::cerr << "gyre: " << stopped.what() << ": " << command_text() << '\n';
    constexpr int kInterruptedExit = 130;  // as shells report SIGINT
    return kInterruptedExit;
  }
  const fs::path file = fs::path(verb.out) / "accept.json";
  write_file_atomic(file, accept::to_json(result) + "\n");
  report::write_accept_report(result, verb.out);
  if (verb.junit == "-") {
    std::cout << accept::to_junit(result);
  } else if (!verb.junit.empty()) {
    write_file_atomic(verb.junit, accept::to_junit(result));
  }
  write_json(verb.common, accept::to_json(result));
  if (verb.common.json != "-" && verb.junit != "-") {
    std::cout << accept::to_text(result);
    if (!result.failures.empty()) {
      std::cout << result.failures.size() << " items were not ok; see one with: gyre accept show "
                << result.failures.front().item.sid << " --out " << verb.out << '\n';
    }
    std::cout << "all numbers: " << file.string() << '\n'
              << "page: " << (fs::path(verb.out) / "report.html").string() << '\n';
  }
  return accept::exit_status(result);
}

int run_accept_plan(const AcceptVerb& verb) {
  accept::Speed speed;
  if (fs::exists(fs::path(verb.out) / "samples.jsonl")) {
    speed = accept::fit_speed(Record::read_only(verb.out)->samples());
  }
  std::optional<accept::LocalShape> shape;
  if (!verb.remote() && !verb.model.empty()) {
    shape = accept::local_shape(verb.model, verb.local.dtype == "bf16" ? 2 : 4);
  }
  const Plan planned = accept::plan(verb.accept, speed, shape ? &*shape : nullptr);
  if (verb.common.json != "-") {
    std::cout << accept::to_text(planned);
  }
  write_json(verb.common, accept::to_json(planned));
  return 0;
}

int run_accept_show(const AcceptVerb& verb) {
  const accept::Shown shown = accept::show(verb.out, verb.sid);
  if (verb.common.json != "-") {
    std::cout << accept::to_text(shown);
  }
  write_json(verb.common, accept::to_json(shown));
  return 0;
}

}  // namespace gyre::cli

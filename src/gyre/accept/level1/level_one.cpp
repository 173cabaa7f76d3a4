// Level 1: does the service keep the text? Runs the steps and writes down what they showed.
#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>

#include "gyre/accept/level1/steps.h"
#include "gyre/accept/text/filler.h"
#include "gyre/base/error.h"

namespace gyre::accept {

namespace {

std::string says_of(const Probe& probe) {
  const std::string part = words(probe.gap, probe.stripes_n);
  switch (probe.loss) {
    case Loss::None:
      return probe.by_one
                 ? "kept whole: codes that the list left out come back when asked for alone"
             : probe.errors > 0 ? str(probe.errors, " requests failed, another text was kept whole")
                                : "kept whole";
    case Loss::Weak:
      return std::count(probe.read.begin(), probe.read.end(), 1) > 0
                 ? str(std::count(probe.stripes.begin(), probe.stripes.end(), 1), " of ",
                       probe.stripes_n,
                       " codes came back, but log-probabilities show that the "
                       "text is read: the model is weak")
                 : str(std::count(probe.stripes.begin(), probe.stripes.end(), 1), " of ",
                       probe.stripes_n,
                       " codes came back; nothing tells whether the rest was read");
    case Loss::Cut:
      return part + " not read" + (probe.counted_less ? str(", usage ", *probe.reported) : "");
    case Loss::Unused:
      return part + " read, but not used";
    case Loss::Garbage:
      return "no sensible answer";
    case Loss::Cliff:
      return str("garbage when asked about what stands past token ", probe.edge_hi);
    case Loss::Guess:
      return probe.instead;
    case Loss::Empty:
      return "an answer without text";
    default:
      return probe.says;
  }
}

Status status_of(const Probe& probe) {
  if (probe.errors > 0) {
    return Status::Fail;
  }
  if (probe.loss == Loss::None) {
    return Status::Pass;
  }
  if (probe.loss != Loss::Weak) {
    return Status::Fail;
  }
  const auto read = std::count(probe.read.begin(), probe.read.end(), 1);
  return read >= 2 ? Status::Pass : Status::Undecided;
}

Rung rung_of(const Probe& probe, int64_t length) {
  return {length,     probe.api,        probe.tokens,   probe.reported, probe.stripes,
          probe.read, status_of(probe), says_of(probe), probe.evidence};
}

/// One rung a length and endpoint: the worst of the sizes around it.
void write_rungs(const Prober& prober, const Ladder& ladder, LevelOne& one) {
  std::vector<int64_t> lengths = prober.options().lengths;
  std::sort(lengths.begin(), lengths.end());
  for (const int64_t length : lengths) {
    for (const Api api : {Api::Chat, Api::Completions}) {
      const auto same = [&](const Probe& probe) {
        return probe.rung == length && probe.api == api;
      };
      const Probe* worst = nullptr;
      for (const Probe& probe : ladder.probes) {
        if (same(probe) && (worst == nullptr || (worst->whole() && !probe.whole()))) {
          worst = &probe;
        }
      }
      if (worst != nullptr) {
        one.rungs.push_back(rung_of(*worst, length));
        for (const Probe& probe : ladder.probes) {
          if (same(probe) && &probe != worst) {
            auto& evidence = one.rungs.back().evidence;
            evidence.insert(evidence.end(), probe.evidence.begin(), probe.evidence.end());
          }
        }
      } else if (api == prober.main) {
        Rung rung;
        rung.length = length;
        rung.api = api;
        rung.status = Status::NotRun;
        const auto none = ladder.no_room.find(length);
        rung.says = none != ladder.no_room.end() ? "no room: " + none->second
                                                 : "not asked: the server answers no more";
        one.rungs.push_back(std::move(rung));
      }
    }
  }
}

/// A number that --send asks the server to use as its window.
std::optional<int64_t> wanted_window(const nlohmann::json& object) {
  for (const auto& [key, value] : object.items()) {
    const bool named =
        key.find("ctx") != std::string::npos || key.find("context") != std::string::npos;
    if (named && value.is_number_integer()) {
      return value.get<int64_t>();
    }
    if (value.is_object()) {
      if (const auto inner = wanted_window(value)) {
        return inner;
      }
    }
  }
  return std::nullopt;
}

void client_options(const Prober& prober, const Ladder& ladder, LevelOne& one) {
  const auto json = nlohmann::json::parse(prober.options().send, nullptr, false);
  if (!json.is_object()) {
    return;
  }
  const auto wanted = wanted_window(json);
  const auto window = ladder.told ? ladder.told : ladder.window.fits;
  if (!wanted) {
    one.client_options = "sent with every request; nothing in it names a window";
  } else if (ladder.window.fails && window && *ladder.window.fails < *wanted) {
    one.client_options =
        str("no effect: ", *wanted, " tokens were asked for, the window is about ", *window);
  } else {
    one.client_options =
        str("a window of ", *wanted, " tokens was asked for; nothing contradicts it");
  }
}

void conclude_ladder(Prober& prober, Ladder& ladder) {
  Bench& bench = prober.bench;
  LevelOne& one = bench.result.one;
  Case the_case{ladder.probes,
                ladder.window,
                ladder.told,
                bench.result.facts.claims,
                bench.result.facts.slots,
                prober.able};
  for (Finding& finding : diagnose(the_case)) {
    bench.find(finding.id, finding.says, finding.evidence, finding.facts);
  }
  one.window = ladder.window;
  write_rungs(prober, ladder, one);
  client_options(prober, ladder, one);
}

/// A calibration prompt that came back whole is the lowest rung: not planned, but known.
void add_short_rungs(const Prober& prober, Ladder& ladder) {
  for (const Seen& seen : prober.all) {
    if (seen.outcome != Outcome::Kept) {
      continue;
    }
    Probe probe;
    probe.length = seen.sample.item.length + seen.sample.item.ask.max_tokens;
    probe.api = prober.main;
    probe.tokens = prober.predicted(seen.sample.item);
    probe.reported = seen.reported;
    probe.stripes = seen.stripes;
    probe.stripes_n = seen.stripes.size();
    probe.evidence = sids({seen});
    ladder.probes.push_back(std::move(probe));
  }
}

/// A test whose prompt has no room is left out.
template <class Test>
void where_it_fits(const Test& test) {
  try {
    test();
  } catch (const NoRoom&) {
  }
}

void tests_at_kept_lengths(Prober& prober, Ladder& ladder) {
  test_repeat(prober, ladder);
  test_together(prober, ladder);
  const Probe* shortest = nullptr;
  for (const Probe& probe : ladder.probes) {
    if (probe.planned && probe.whole() && probe.api == prober.main && shortest == nullptr) {
      shortest = &probe;
    }
  }
  if (shortest != nullptr && prober.able) {
    const int64_t length = shortest->length;
    where_it_fits([&] { test_bytes(prober, length); });
    if (prober.main == Api::Chat) {
      where_it_fits([&] { test_turns(prober, length); });
    }
  }
  test_endpoints(prober);
  where_it_fits([&] { test_shift(prober, ladder); });
  where_it_fits([&] { test_overflow(prober, ladder); });
}

void find_in_replies(Prober& prober, const Ladder& ladder) {
  // Counts of prompts that were cut are no contradiction: they count what was left.
  const auto& found = prober.bench.result.findings;
  const bool cut = std::any_of(found.begin(), found.end(), [](const Finding& finding) {
    return finding.id == "USAGE_POST_TRUNC";
  });
  std::vector<Seen> all = prober.all;
  if (cut && ladder.window.fits) {
    std::erase_if(all, [&](const Seen& seen) {
      return seen.reply().answered() && seen.predicted > *ladder.window.fits;
    });
  }
  for (Finding& finding : diagnose_replies(all, prober.options().slow_s)) {
    prober.bench.find(finding.id, finding.says, finding.evidence, finding.facts);
  }
}

}  // namespace

void run_level_one(Bench& bench) {
  Acceptance& result = bench.result;
  result.facts = bench.session.subject().discover();
  if (bench.options.context > 0) {
    result.facts.claims.push_back({"--context", bench.options.context});
  }
  result.one.ran = true;
  Prober prober(bench);
  Ladder ladder;
  if (calibrate(prober)) {
    result.one.able = prober.able;
    add_short_rungs(prober, ladder);
    climb(prober, ladder);
    if (!prober.gone) {
      measure_window(prober, ladder);
      tests_at_kept_lengths(prober, ladder);
      measure_flips(prober, ladder);
    }
  } else {
    prober.gone = true;
  }
  if (!prober.gone && (bench.options.ranking == "on" || bench.options.api == "completions")) {
    test_echo(prober);
  }
  conclude_ladder(prober, ladder);
  find_in_replies(prober, ladder);
}

}  // namespace gyre::accept

// The whole run: discovery, calibration, level 1, then levels 2 and 3 where level 1 allows, curves.
#pragma once

#include <functional>

#include "gyre/accept/result.h"
#include "gyre/accept/session.h"

namespace gyre::accept {

/// What each part gets: the session to ask through, what is known so far, where findings go.
struct Bench {
  Session& session;
  const AcceptOptions& options;
  Acceptance& result;  // filled in order: facts, calibration, one, cells, ...
  /// Sees each item of levels 2 and 3 before it is asked; for tests.
  std::function<void(const Item&)> on_item = {};

  /// Can be asked there, as far as is known.
  bool serves(Api api) const;
  void find(std::string id, std::string says, std::vector<std::string> evidence,
            std::map<std::string, std::string> facts = {});
};

void run_level_one(Bench& bench);    // level1/: fills facts, calibration, one, findings
void run_retrieval(Bench& bench);    // level 2: cells, measures
void run_composition(Bench& bench);  // level 3: cells, measures
void run_ranking(Bench& bench);      // instead of 2 and 3 for subjects that cannot answer
void run_curves(Bench& bench);       // after everything else
/// Levels, verdict, says, effective lengths, money; from what the other parts filled in.
void conclude(Acceptance& result);
/// Sums over the final samples of a run; money is left to conclude().
Cost cost_of(const std::vector<Sample>& samples);

/// Everything in order. The same record gives the same result again.
///
/// record   what the session writes to: failures and cost are counted there
Acceptance accept(Session& session, const Record& record, const AcceptOptions& options);

}  // namespace gyre::accept

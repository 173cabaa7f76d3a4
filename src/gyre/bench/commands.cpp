#include "gyre/bench/commands.h"

#include <cmath>

#include "gyre/base/error.h"
#include "gyre/bench/peer.h"

namespace gyre::bench {

Command train_command(const Command& program, const TrainShape& shape, const Contest& contest) {
  Command out = program;
  if (program.empty()) {
    return out;
  }
  TrainShape copy = shape;
  for (const Field& field : fields_of(copy)) {
    out.push_back("--" + field.name + "=" + field.get());
  }
  for (const std::string& each :
       {str("--batch=", shape.batch), str("--head-dim=", shape.head_dim),
        str("--threads=", contest.threads), "--device=" + contest.device, std::string("--serve")}) {
    out.push_back(each);
  }
  return out;
}

Command attention_command(const Command& program, const AttentionShape& shape,
                          const Contest& contest) {
  Command out = program;
  if (!program.empty()) {
    for (const std::string& each : {str("--batch=", shape.batch), str("--heads=", shape.heads),
                                    "--dtype=" + shape.dtype, str("--threads=", contest.threads),
                                    "--device=" + contest.device, std::string("--serve")}) {
      out.push_back(each);
    }
  }
  return out;
}

Peak peak_of(const Command& command, const std::string& case_words, int64_t steps,
             const Limits& limits) {
  Peak out;
  if (command.empty()) {
    return out;
  }
  try {
    Server server(command, limits);
    out.name = server.name();
    for (int64_t i = 0; i < steps; ++i) {
      server.step_ms(case_words);
    }
    out.mib = server.peak_mib();
    out.start_mib = server.start_mib();
  } catch (const Interrupted&) {
    throw;
  } catch (const Error& fault) {
    out.why = fault.what();
  }
  return out;
}

Row memory_row(std::string what, const std::string& peer_name, const Peak& ours, const Peak& peer) {
  Row row;
  row.what = std::move(what);
  row.unit = "MiB";
  row.peer_name = peer_name;
  row.ours = ours.mib;
  row.peer = peer.mib;
  row.ratio = ours.mib / peer.mib;
  row.ratio_is = "share of the peer's";
  for (const auto& [who, peak] : {std::pair<const char*, const Peak&>("ours", ours),
                                  std::pair<const char*, const Peak&>("peer", peer)}) {
    if (!peak.why.empty()) {
      row.note += str(row.note.empty() ? "" : "; ", who, ": ", peak.why);
    } else if (std::isfinite(peak.start_mib)) {
      row.note +=
          str(row.note.empty() ? "" : "; ", who, " started with ", std::lround(peak.start_mib));
    }
  }
  return row;
}

}  // namespace gyre::bench

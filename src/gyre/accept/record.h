// The folder of an acceptance run: run.json (what decides the run, written before anything is
// sent), samples.jsonl (append-only, one line per attempt), prompts/<sid>.txt.gz (full prompt of
// every item that did not end ok).
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "gyre/accept/item.h"

namespace gyre::accept {

/// What becomes of an item after an attempt: asked again at once, by the next run (what failed may
/// pass: the server was not up yet), or never.
enum class Ending { Again, GivenUp, Final };

/// Writes one line of samples.jsonl, schema gyre.accept_sample/1. The prompt itself is not in it,
/// only its hash.
std::string to_line(const Sample& sample, const std::string& run, Ending ending);
/// Reads it back. The item's messages have roles, and no contents. throws Error(Format) on a line
/// that is none.
Sample sample_of(const std::string& line);

class Record {
 public:
  /// In memory only: nothing is kept (tests, accept show).
  Record();
  /// Reads a folder, changes nothing in it and takes no lock. Error(File) when it holds no run.
  static std::unique_ptr<Record> read_only(const std::filesystem::path& dir);
  /// Opens or begins the folder. `settings` decide the run: flag -> value.
  ///
  /// throws  Error(Usage) naming the first setting that differs from the folder's; when the folder
  ///         holds something else; when another run is at work in it
  Record(const std::filesystem::path& dir, const std::map<std::string, std::string>& settings,
         bool force);
  ~Record();
  Record(const Record&) = delete;
  Record& operator=(const Record&) = delete;

  /// The final sample of an item, when there is one: the first final one counts, later ones don't.
  std::optional<Sample> find(const std::string& sid) const;
  int64_t attempts(const std::string& sid) const;
  /// Appends an attempt. Writes the prompt when it is not asked again at once and not ok. Safe from
  /// several threads, as are all others.
  void add(const Sample& sample, Ending ending);
  void add(const Sample& sample, bool final) { add(sample, final ? Ending::Final : Ending::Again); }
  /// All final samples, and the last ones of items that were given up, in the order of their lines.
  std::vector<Sample> samples() const;
  int64_t size() const;  // of samples()
  /// Forgets every attempt: the server was never there.
  void clear();
  const std::string& run() const;  // hash of the settings
  const std::map<std::string, std::string>& settings() const;

 private:
  struct State;
  explicit Record(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// prompts/<sid>.txt.gz: the prompt of an item that did not end ok; see prompt_text().
///
/// throws  Error(File) when it is not there, Error(Format) when it is damaged
std::string read_prompt(const std::filesystem::path& dir, const std::string& sid);
void write_prompt(const std::filesystem::path& dir, const std::string& sid,
                  const std::string& text);

}  // namespace gyre::accept

#include "gyre/accept/record.h"

#include <fcntl.h>
#include <unistd.h>
#include <algorithm>

#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string_view>
#include <unordered_map>

#include "gyre/base/error.h"
#include "gyre/base/files.h"
#include "gyre/base/work_folder.h"

namespace gyre::accept {
namespace {

namespace fs = std::filesystem;
using Settings = std::map<std::string, std::string>;

constexpr const char* kSamples = "samples.jsonl";

const WorkKind& work_kind() {
  static const WorkKind kind{
      .record = "run.json",
      .schema = "gyre.accept_run/1",
      .noun = "an acceptance run",
      .users = "gyre accept",
      .own = {kSamples, "prompts", "facts.json", "accept.json", "report.html", "figures"}};
  return kind;
}

std::string hash_of(const Settings& settings) {
  std::string all;
  for (const auto& [name, value] : settings) {
    all += str(name, " ", value.size(), ":", value, "\n");
  }
  constexpr size_t kDigits = 16;
  return sha256(all).substr(0, kDigits);
}

/// What stands at the beginning of a line that to_line() wrote.
struct Head {
  std::string sid;
  Ending ending = Ending::Again;
  std::string run;
};

/// Reads `"name":"value"` or `"name":true` at the front of `rest` and drops it.
bool take(std::string_view& rest, std::string_view text) {
  if (!rest.starts_with(text)) {
    return false;
  }
  rest.remove_prefix(text.size());
  return true;
}

std::optional<std::string> take_word(std::string_view& rest) {
  const size_t end = rest.find('"');
  if (end == std::string_view::npos) {
    return std::nullopt;
  }
  std::string word(rest.substr(0, end));
  rest.remove_prefix(end + 1);
  return word;
}

std::optional<Head> head_of(std::string_view line) {
  Head head;
  if (!take(line, R"({"schema":"gyre.accept_sample/1","sid":")")) {
    return std::nullopt;
  }
  const auto sid = take_word(line);
  head.ending = line.starts_with(R"(,"final":true)") ? Ending::Final : Ending::Again;
  if (!sid || !(take(line, R"(,"final":true)") || take(line, R"(,"final":false)")) ||
      !take(line, R"(,"run":")")) {
    return std::nullopt;
  }
  const auto run = take_word(line);
  if (!run || !line.ends_with('}')) {
    return std::nullopt;
  }
  if (head.ending == Ending::Again && line.starts_with(R"(,"given_up":true)")) {
    head.ending = Ending::GivenUp;
  }
  head.sid = *sid;
  head.run = *run;
  return head;
}

}  // namespace

/// Where the lines are, and which line is the first final one of each sid. Samples are read only
/// when somebody wants one.
struct Record::State {
  struct Line {
    uint64_t offset = 0, size = 0;
  };
  struct Known {
    int64_t attempts = 0;
    int64_t final_line = -1, given_up_line = -1;
  };

  mutable std::mutex lock;
  Settings settings;
  std::string run;
  fs::path dir;                        // "" = in memory
  std::unique_ptr<WorkFolder> folder;  // none: in memory, or read only
  std::unique_ptr<LineWriter> writer;
  int file = -1;
  std::vector<std::string> memory;  // the lines themselves, without a folder
  std::vector<Line> lines;
  std::unordered_map<std::string, Known> known;

  ~State() {
    if (file >= 0) {
      ::close(file);
    }
  }

  void index(const std::string& sid, Ending ending, Line line) {
    Known& entry = known[sid];
    ++entry.attempts;
    const auto at = static_cast<int64_t>(lines.size());
    if (ending == Ending::Final && entry.final_line < 0) {
      entry.final_line = at;
    }
    entry.given_up_line = ending == Ending::GivenUp ? at : entry.given_up_line;
    lines.push_back(line);
  }

  /// The line that counts of each item, in their order.
  std::vector<size_t> ends() const {
    std::vector<size_t> out;
    for (const auto& [sid, entry] : known) {
      const int64_t line = entry.final_line >= 0 ? entry.final_line : entry.given_up_line;
      if (line >= 0) {
        out.push_back(static_cast<size_t>(line));
      }
    }
    std::sort(out.begin(), out.end());
    return out;
  }

  /// A last line without an end was left by a killed process and is none.
  void read_index() {
    const fs::path path = dir / kSamples;
    if (!fs::exists(path)) {
      return;
    }
    const std::string text = read_file(path);
    for (size_t begin = 0; begin < text.size();) {
      const size_t end = text.find('\n', begin);
      if (end == std::string::npos) {
        break;
      }
      if (end == begin) {  // an editor's blank line
        lines.push_back({begin, 0});
        begin = end + 1;
        continue;
      }
      const auto head = head_of(std::string_view(text).substr(begin, end - begin));
      if (!head) {
        throw Error(Code::Format, path.string(), ":", lines.size() + 1,
                    ": not a sample of gyre.accept_sample/1; mend the line or start over with "
                    "--force");
      }
      if (head->run != run) {
        throw Error(Code::Format, path.string(), ":", lines.size() + 1, ": belongs to run ",
                    head->run, ", this folder holds run ", run, "; start over with --force");
      }
      index(head->sid, head->ending, {begin, end - begin});
      begin = end + 1;
    }
  }

  void open_file() {
    file = ::open((dir / kSamples).c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) {
      throw Error(Code::File, "cannot open ", (dir / kSamples).string(), ": ",
                  std::strerror(errno));
    }
  }

  std::string line_text(size_t i) const {
    if (dir.empty()) {
      return memory[i];
    }
    std::string text(lines[i].size, '\0');
    const ssize_t n = ::pread(file, text.data(), text.size(), static_cast<off_t>(lines[i].offset));
    if (n != static_cast<ssize_t>(text.size())) {
      throw Error(Code::File, "cannot read ", (dir / kSamples).string(), ":", i + 1, ": ",
                  n < 0 ? std::strerror(errno) : "it became shorter while the run was at work");
    }
    return text;
  }

  Sample sample_at(size_t i) const {
    try {
      return sample_of(line_text(i));
    } catch (const Error& fault) {
      const std::string place = dir.empty() ? "sample" : (dir / kSamples).string();
      throw Error(fault.code(), place, ":", i + 1, ": ", fault.what(),
                  "; mend the line or start over with --force");
    }
  }
};

Record::Record() : state_(std::make_unique<State>()) {
  state_->run = hash_of({});
}

Record::Record(std::unique_ptr<State> state) : state_(std::move(state)) {}

Record::Record(const fs::path& dir, const Settings& settings, bool force)
    : state_(std::make_unique<State>()) {
  state_->settings = settings;
  state_->run = hash_of(settings);
  state_->dir = dir;
  state_->folder = std::make_unique<WorkFolder>(dir, work_kind(), settings, force);
  fs::create_directories(dir / "prompts");
  state_->writer = std::make_unique<LineWriter>(dir / kSamples);
  state_->read_index();
  state_->open_file();
}

std::unique_ptr<Record> Record::read_only(const fs::path& dir) {
  auto state = std::make_unique<State>();
  const fs::path file = dir / work_kind().record;
  if (!fs::is_regular_file(file) || !fs::is_regular_file(dir / kSamples)) {
    throw Error(Code::File, dir.string(),
                " holds no acceptance run; give the folder that gyre "
                "accept --out wrote");
  }
  const auto json = nlohmann::json::parse(read_file(file), nullptr, false);
  if (!json.is_object() || !json.contains("settings")) {
    throw Error(Code::Format, file.string(), ": not the record of an acceptance run");
  }
  state->settings = json.at("settings").get<Settings>();
  state->run = hash_of(state->settings);
  state->dir = dir;
  state->read_index();
  state->open_file();
  return std::unique_ptr<Record>(new Record(std::move(state)));
}

Record::~Record() = default;

std::optional<Sample> Record::find(const std::string& sid) const {
  const std::scoped_lock hold(state_->lock);
  const auto found = state_->known.find(sid);
  if (found == state_->known.end() || found->second.final_line < 0) {
    return std::nullopt;
  }
  return state_->sample_at(static_cast<size_t>(found->second.final_line));
}

int64_t Record::attempts(const std::string& sid) const {
  const std::scoped_lock hold(state_->lock);
  const auto found = state_->known.find(sid);
  return found == state_->known.end() ? 0 : found->second.attempts;
}

void Record::add(const Sample& sample, Ending ending) {
  if (sample.item.sid.empty()) {
    throw Error(Code::Internal, "a sample without a sid cannot be recorded");
  }
  const std::string line = to_line(sample, state_->run, ending);
  const bool ended = ending != Ending::Again;
  if (state_->folder != nullptr && ended && !sample.ok()) {  // first: such a line has its prompt
    write_prompt(state_->dir, sample.item.sid, prompt_text(sample.item.ask));
  }
  const std::scoped_lock hold(state_->lock);
  const uint64_t begin =
      state_->lines.empty() ? 0 : state_->lines.back().offset + state_->lines.back().size + 1;
  if (state_->writer != nullptr) {
    state_->writer->write(line);
  } else if (state_->dir.empty()) {
    state_->memory.push_back(line);
  } else {
    throw Error(Code::Internal, state_->dir.string(), " was opened for reading");
  }
  state_->index(sample.item.sid, ending, {begin, line.size()});
}

std::vector<Sample> Record::samples() const {
  const std::scoped_lock hold(state_->lock);
  std::vector<Sample> out;
  for (const size_t i : state_->ends()) {
    out.push_back(state_->sample_at(i));
  }
  return out;
}

int64_t Record::size() const {
  const std::scoped_lock hold(state_->lock);
  return static_cast<int64_t>(state_->ends().size());
}

void Record::clear() {
  const std::scoped_lock hold(state_->lock);
  state_->memory.clear();
  state_->lines.clear();
  state_->known.clear();
  if (state_->writer != nullptr) {
    state_->writer = std::make_unique<LineWriter>(state_->dir / kSamples, false);
    fs::remove_all(state_->dir / "prompts");
    fs::create_directories(state_->dir / "prompts");
    for (const char* file : {"run.json", "facts.json"}) {  // other flags may follow: all is open
      fs::remove(state_->dir / file);
    }
  }
}

const std::string& Record::run() const {
  return state_->run;
}

const Settings& Record::settings() const {
  return state_->settings;
}

}  // namespace gyre::accept

#include "gyre/data/subprocess.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cctype>
#include <cerrno>
#include <cstring>

#include "gyre/base/error.h"
#include "gyre/base/files.h"

extern char** environ;

namespace gyre::data {
namespace {

class SpawnActions {
 public:
  SpawnActions() { posix_spawn_file_actions_init(&actions_); }
  ~SpawnActions() { posix_spawn_file_actions_destroy(&actions_); }
  SpawnActions(const SpawnActions&) = delete;
  SpawnActions& operator=(const SpawnActions&) = delete;
  void redirect(int fd, const std::string& path, int flags) {
    posix_spawn_file_actions_addopen(&actions_, fd, path.c_str(), flags, 0600);
  }
  void enter(const std::filesystem::path& folder) {
    posix_spawn_file_actions_addchdir_np(&actions_, folder.c_str());
  }
  const posix_spawn_file_actions_t* get() const { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_{};
};

/// Output goes to files: a pipe would have to be drained while two of them fill.
struct Capture {
  std::filesystem::path folder;
  Capture() {
    std::string pattern = (std::filesystem::temp_directory_path() / "gyre-run.XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) {
      throw Error(Code::File, pattern, ": cannot create a folder: ", std::strerror(errno));
    }
    folder = pattern;
  }
  ~Capture() {
    std::error_code ignored;
    std::filesystem::remove_all(folder, ignored);
  }
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;
};

int wait_for(pid_t pid) {
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace

CommandResult run_command(const std::vector<std::string>& args,
                          const std::filesystem::path& folder) {
  const Capture capture;
  const std::string out = capture.folder / "out";
  const std::string err = capture.folder / "err";
  SpawnActions actions;
  actions.redirect(STDIN_FILENO, "/dev/null", O_RDONLY);
  actions.redirect(STDOUT_FILENO, out, O_WRONLY | O_CREAT);
  actions.redirect(STDERR_FILENO, err, O_WRONLY | O_CREAT);
  actions.enter(folder);
  std::vector<char*> argv;
  for (const std::string& arg : args) {
    argv.push_back(const_cast<char*>(arg.c_str()));
  }
  argv.push_back(nullptr);
  pid_t pid = 0;
  const int fault = ::posix_spawnp(&pid, argv[0], actions.get(), nullptr, argv.data(), environ);
  if (fault != 0) {
    throw Error(Code::Remote, "cannot run '", args.front(), "': ", std::strerror(fault),
                "; install it first");
  }
  CommandResult result;
  result.status = wait_for(pid);
  result.output = read_file(out);
  result.faults = read_file(err);
  return result;
}

std::string last_words(const CommandResult& result) {
  const std::string text = result.output + "\n" + result.faults;
  std::string last;
  std::string telling;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const std::string line = text.substr(begin, end - begin);
    begin = end + 1;
    if (line.find_first_not_of(" \t\r") == std::string::npos) {
      continue;
    }
    last = line;
    std::string lower = line;
    for (char& c : lower) {
      c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
    if (lower.find("error") != std::string::npos || line.starts_with("E: ")) {
      telling = line;
    }
  }
  return (telling.empty() ? last : telling).substr(0, 300);
}

}  // namespace gyre::data

// For tests: a peer that speaks the protocol without PyTorch and misbehaves on demand, and the text
// of an Error.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "gyre/base/error.h"

namespace gyre::bench {

/// The message of the Error that call() throws; "" = none.
template <class Call>
std::string message_of(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

inline constexpr const char* kFakePeer = R"PY(
import sys, time
count = 0
def say(text):
    sys.stdout.write(text + "\n")
    sys.stdout.flush()
if "--mute" in sys.argv:
    time.sleep(600)
if "--dies-at-once" in sys.argv:
    sys.stderr.write("first\nno torch here\n")
    sys.exit(3)
name = "torch 1.0.0" if "--old-torch" in sys.argv else "fake 1.0"
say("hello" if "--unready" in sys.argv else
    'ready {"peer": "%s", "threads": 1, "start_mib": 100.5}' % name)
for line in sys.stdin:
    words = line.split()
    if words == ["peak"]:
        say("mib 400.25")
    elif words[:1] == ["step"]:
        count += 1
        if "dies" in words:
            sys.stderr.write("out of luck\n")
            sys.exit(7)
        if "hangs" in words:
            time.sleep(600)
        if "bf16-compile" in words:
            say("error no compiler")
        elif "babbles" in words:
            say("well")
        else:
            say("ms %d.5" % (60 + count))
    else:
        say("error no command '%s'" % line.strip())
)PY";

/// A temporary folder with fake_peer.py; command() starts it.
class FakePeer {
 public:
  FakePeer() {
    std::string pattern = (std::filesystem::temp_directory_path() / "gyre-peer.XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
    std::ofstream(folder_ / "fake_peer.py") << kFakePeer;
  }
  ~FakePeer() { std::filesystem::remove_all(folder_); }
  FakePeer(const FakePeer&) = delete;
  FakePeer& operator=(const FakePeer&) = delete;

  std::vector<std::string> command(const std::string& flag = "") const {
    // env finds python3 in PATH: a program is started by its full path.
    std::vector<std::string> out = {"/usr/bin/env", "python3", (folder_ / "fake_peer.py").string()};
    if (!flag.empty()) {
      out.push_back(flag);
    }
    return out;
  }
  const std::filesystem::path& folder() const { return folder_; }

 private:
  std::filesystem::path folder_;
};

}  // namespace gyre::bench

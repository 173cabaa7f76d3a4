// The one exception type for faults outside tensors: usage, files, formats, network.
// Argument and tensor faults use TORCH_CHECK_VALUE and become c10::ValueError.
#pragma once

#include <sstream>
#include <stdexcept>
#include <string>

namespace gyre {

/// What went wrong; each kind has one exit code, see exit_code().
enum class Code { CheckFailed, Usage, File, Format, Remote, Internal };

/// Joins values into one string, as they print with `<<`.
template <class... T>
std::string str(const T&... parts) {
  std::ostringstream out;
  (out << ... << parts);
  return out.str();
}

/// A fault with one line of text: what was asked, what was found, what to do.
/// Lower case, no full stop, the offending values in it.
class Error : public std::runtime_error {
 public:
  template <class... T>
  explicit Error(Code code, const T&... parts) : std::runtime_error(str(parts...)), code_(code) {}
  Code code() const { return code_; }

 private:
  Code code_;
};

/// Process exit code: 1 check failed, 2 usage, 3 bad input file, 4 remote, 70 bug.
inline int exit_code(Code code) {
  switch (code) {
    case Code::CheckFailed:
      return 1;
    case Code::Usage:
      return 2;
    case Code::File:
    case Code::Format:
      return 3;
    case Code::Remote:
      return 4;
    case Code::Internal:
      break;
  }
  return 70;
}

}  // namespace gyre

#include "gyre/accept/item.h"

#include <string_view>

#include "gyre/base/error.h"
#include "gyre/base/files.h"

namespace gyre::accept {
namespace {

/// A text in which no two different requests look alike: each part says its name and its length.
class Canonical {
 public:
  void add(std::string_view name, std::string_view value) {
    text_ += str(name, " ", value.size(), ":");
    text_ += value;
    text_ += '\n';
  }
  void add(std::string_view name, int64_t value) { add(name, str(value)); }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

void add_ask(Canonical& all, const Ask& ask) {
  all.add("api", name_of(ask.api));
  for (const Message& message : ask.messages) {
    all.add("role", message.role);
    all.add("content", message.content);
  }
  all.add("max_tokens", ask.max_tokens);
  all.add("top_logprobs", ask.top_logprobs);
  all.add("echo", ask.echo ? 1 : 0);
  all.add("cold", ask.cold ? 1 : 0);
  for (const std::string& candidate : ask.candidates) {
    all.add("candidate", candidate);
  }
}

}  // namespace

std::string identity(const Item& item, const std::string& subject) {
  Canonical all;
  all.add("generator", kGeneratorVersion);
  all.add("subject", subject);
  all.add("level", item.level);
  all.add("task", item.task);
  all.add("arm", item.arm);
  all.add("length", item.length);
  all.add("occasion", item.occasion);
  all.add("index", item.index);
  for (const auto& [name, value] : item.dials) {
    all.add("dial", name);
    all.add("value", value);
  }
  add_ask(all, item.ask);
  constexpr size_t kDigits = 16;  // 64 bits: two of a million items agree once in 4e7 runs
  return sha256(all.text()).substr(0, kDigits);
}

const char* name_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::Ok:
      return "ok";
    case Verdict::Distractor:
      return "distractor";
    case Verdict::WrongCode:
      return "wrong_code";
    case Verdict::Partial:
      return "partial";
    case Verdict::NoneSaid:
      return "none";
    case Verdict::Dump:
      return "dump";
    case Verdict::Format:
      return "format";
    case Verdict::Empty:
      return "empty";
    case Verdict::Cut:
      return "cut";
    case Verdict::Refusal:
      return "refusal";
    case Verdict::Error:
      break;
  }
  return "error";
}

std::optional<Verdict> verdict_of(const std::string& name) {
  for (int i = 0; i <= static_cast<int>(Verdict::Error); ++i) {
    if (name == name_of(static_cast<Verdict>(i))) {
      return static_cast<Verdict>(i);
    }
  }
  return std::nullopt;
}

const char* name_of(AnswerForm form) {
  switch (form) {
    case AnswerForm::Codes:
      return "codes";
    case AnswerForm::Numbered:
      return "numbered";
    case AnswerForm::Digit:
      return "digit";
    case AnswerForm::Word:
      return "word";
    case AnswerForm::Agreement:
      return "agreement";
    case AnswerForm::Ranking:
      return "ranking";
    case AnswerForm::Probe:
      return "probe";
    case AnswerForm::Free:
      break;
  }
  return "free";
}

std::optional<AnswerForm> form_of(const std::string& name) {
  for (int i = 0; i <= static_cast<int>(AnswerForm::Probe); ++i) {
    if (name == name_of(static_cast<AnswerForm>(i))) {
      return static_cast<AnswerForm>(i);
    }
  }
  return std::nullopt;
}

std::string prompt_text(const Ask& ask) {
  std::string out;
  for (const Message& message : ask.messages) {
    if (ask.api == Api::Chat) {
      out += str("--- ", message.role, ", ", message.content.size(), " bytes\n");
    }
    out += message.content;
    out += '\n';
  }
  return out;
}

}  // namespace gyre::accept

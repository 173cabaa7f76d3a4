// What comes before an answer is read: faults, empty texts, thinking, budgets that ran out.
#include "gyre/accept/scoring.h"

#include <algorithm>

#include "gyre/accept/scoring/answer_text.h"
#include "gyre/accept/scoring/forms.h"
#include "gyre/accept/text/filler.h"

namespace gyre::accept {
namespace {

bool holds_all(const std::string& text, const std::vector<std::string>& gold) {
  const auto codes = codes_in(text);
  const auto words = words_of_text(text);
  return !gold.empty() && std::all_of(gold.begin(), gold.end(), [&](const std::string& wanted) {
    return std::find(codes.begin(), codes.end(), wanted) != codes.end() ||
           std::find(words.begin(), words.end(), wanted) != words.end();
  });
}

/// No text: the budget went into thinking, a filter took it, or there was none.
Judgement judge_nothing(const Item& item, const Reply& reply, bool unfinished) {
  const std::string thought = reply.reasoning.empty() ? reply.text : reply.reasoning;
  Judgement judgement{Verdict::Empty, "", holds_all(thought, item.gold)};
  const bool wrote =
      !reply.text.empty() || !reply.reasoning.empty() || reply.completion_tokens.value_or(0) > 0;
  if (unfinished || (ran_out(reply.finish) && wrote)) {
    judgement.verdict = Verdict::Cut;
  } else if (reply.finish == "content_filter") {
    judgement.verdict = Verdict::Refusal;
  }
  return judgement;
}

Judgement judge_text(const Item& item, const std::string& text) {
  switch (item.form) {
    case AnswerForm::Codes:
      return judge_codes(item, text);
    case AnswerForm::Numbered:
      return judge_numbered(item, text);
    case AnswerForm::Digit:
      return judge_digit(item, text);
    case AnswerForm::Word:
      return judge_word(item, text);
    case AnswerForm::Agreement:
      return judge_agreement(item, text);
    case AnswerForm::Ranking:
    case AnswerForm::Free:
    case AnswerForm::Probe:
      break;
  }
  return {Verdict::Ok, ""};
}

}  // namespace

Judgement judge(const Item& item, const Reply& reply) {
  if (!reply.answered()) {
    return {Verdict::Error, ""};
  }
  if (item.form == AnswerForm::Ranking) {
    return judge_ranking(item, reply);
  }
  if (item.form == AnswerForm::Probe) {
    return {Verdict::Ok, ""};
  }
  const Spoken spoken = without_thinking(reply.text);
  if (spoken.text.empty() || spoken.unfinished) {
    return judge_nothing(item, reply, spoken.unfinished);
  }
  if (!ran_out(reply.finish)) {
    return judge_text(item, spoken.text);
  }
  if (!is_complete(item, spoken.text)) {  // codes inside it are thoughts, not an answer
    return {Verdict::Cut, ""};
  }
  const bool list = item.form == AnswerForm::Numbered;
  return judge_text(item, list ? spoken.text : first_sentence(spoken.text));
}

}  // namespace gyre::accept

// Level 3: variables. One holds a code, each of the next holds the same code as the one before it;
// the last is asked for. Decoy chains have the same shape and other codes.
#include <algorithm>
#include <numeric>
#include <set>

#include "gyre/accept/tasks/prompt.h"
#include "gyre/accept/text/codes.h"
#include "gyre/base/error.h"

namespace gyre::accept {
namespace {

/// One chain: names from the one that holds the code to the last.
struct Links {
  std::vector<std::string> names;
  std::string code;

  std::string sentence(size_t link) const {
    if (link == 0) {
      return "Variable " + names[0] + " holds code " + code + ".";
    }
    return "Variable " + names[link] + " holds the same code as variable " + names[link - 1] + ".";
  }
};

/// Letter, digit, letter: "K4T"; no two equal.
std::string name(Rng& rng, std::set<std::string>& taken) {
  const auto letter = [&] { return "ABCDEFGHJKMNPQRSTWXYZ"[rng.below(21)]; };
  std::string made;
  do {
    made = {letter(), char('2' + rng.below(8)), letter()};
  } while (!taken.insert(made).second);
  return made;
}

/// Order in which the links of a chain stand in the text.
std::vector<size_t> order_of(LinkOrder order, size_t n, Rng& rng) {
  std::vector<size_t> links(n);
  std::iota(links.begin(), links.end(), size_t{0});
  if (order == LinkOrder::Reverse) {
    std::reverse(links.begin(), links.end());
  }
  for (size_t i = n - 1; order == LinkOrder::Shuffled && i > 0; --i) {
    std::swap(links[i], links[rng.below(i + 1)]);
  }
  return links;
}

const char* name_of(LinkOrder order) {
  static constexpr const char* kNames[] = {"forward", "reverse", "shuffled"};
  return kNames[static_cast<size_t>(order)];
}

void check(const Chain& dials) {
  if (dials.hops < 1 || dials.decoys < 0 || std::ssize(dials.fractions) != dials.hops + 1 ||
      dials.only < 0 || dials.only > dials.hops + 1) {
    throw Error(Code::Internal, "chain: ", dials.hops, " hops need ", dials.hops + 1,
                " fractions, got ", dials.fractions.size(), "; decoys ", dials.decoys, ", only ",
                dials.only);
  }
}

void add_links(Draft& draft, const Links& links, const std::vector<size_t>& order,
               const std::vector<double>& fractions, Role role) {
  std::vector<double> place(order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    place[order[i]] = fractions[i];
  }
  for (size_t link = 0; link < order.size(); ++link) {
    draft.statements.push_back({place[link], links.sentence(link), role});
  }
}

void add_decoys(Draft& draft, const Chain& dials, Rng& rng, CodeSource& codes,
                std::set<std::string>& taken) {
  const auto n = size_t(dials.hops) + 1;
  for (int64_t i = 0; i < dials.decoys; ++i) {
    Links links{{}, codes.next()};
    std::vector<double> fractions;
    for (size_t link = 0; link < n; ++link) {
      links.names.push_back(name(rng, taken));
      fractions.push_back(rng.uniform());
    }
    std::sort(fractions.begin(), fractions.end());
    add_links(draft, links, order_of(dials.order, n, rng), fractions, Role::Other);
    draft.item.distractors.push_back({links.code, 0, fractions.front()});
    if (dials.only > 0 && dials.only <= dials.hops) {
      for (const auto& other : links.names) {
        draft.item.distractors.push_back({other, 0, fractions.front()});
      }
    }
  }
}

/// The question for the chain, for one copy (1 ... hops) or for the first variable (hops + 1).
void ask(Draft& draft, const Chain& dials, const Links& links) {
  Item& item = draft.item;
  const bool copy = dials.only > 0 && dials.only <= dials.hops;
  const auto asked = size_t(copy ? dials.only : dials.only == 0 ? dials.hops : 0);
  item.dials["asked"] = links.names[asked];
  if (copy) {
    item.form = AnswerForm::Word;
    item.gold = {links.names[asked - 1]};
    for (size_t i = 0; i < links.names.size(); ++i) {
      if (i != asked && i + 1 != asked) {
        item.distractors.push_back({links.names[i], 0, 0.0});
      }
    }
    draft.question = "Variable " + links.names[asked] +
                     " holds the same code as which variable? Answer with the name of that "
                     "variable alone, or NONE if the text does not say.";
    return;
  }
  item.gold = {links.code};
  draft.question = "Which code does variable " + links.names[asked] +
                   " hold? Answer with the code alone, or NONE if the text does not say.";
}

}  // namespace

Item make_chain(const Chain& dials, const Frame& frame) {
  check(dials);
  Draft draft;
  draft.arm = dials.arm;
  draft.item.level = 3;
  draft.item.task = "chain";
  draft.item.index = dials.index;
  draft.item.dials = {{"h", str(dials.hops)},
                      {"decoys", str(dials.decoys)},
                      {"order", name_of(dials.order)},
                      {"only", str(dials.only)}};
  draft.salt = str("chain/", dials.hops, "/", dials.index);
  draft.filler = draft.salt;
  Rng rng(frame.seed, draft.salt);
  CodeSource codes(frame.seed, draft.salt + "/codes", 0);
  std::set<std::string> taken;
  Links links{{}, codes.next()};
  const std::string twin = codes.next();
  links.code = dials.arm == Arm::Swap ? twin : links.code;
  for (int64_t i = 0; i <= dials.hops; ++i) {
    links.names.push_back(name(rng, taken));
  }
  auto fractions = dials.fractions;
  std::sort(fractions.begin(), fractions.end());
  add_links(draft, links, order_of(dials.order, fractions.size(), rng), fractions, Role::Evidence);
  add_decoys(draft, dials, rng, codes, taken);
  ask(draft, dials, links);
  return finish(std::move(draft), frame);
}

}  // namespace gyre::accept

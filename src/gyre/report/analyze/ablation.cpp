// What is lost without one third of the pairs.
#include "gyre/base/error.h"
#include "gyre/report/analyze/parts.h"

namespace gyre::report {
namespace {

using analyze::Analysis;
using analyze::kGroupNames;

std::string group_label(const analyze::GroupPairs& group) {
  return str(kGroupNames[static_cast<size_t>(group.group)], ": ", group.n_pairs, " pairs, ",
             wavelength_text(group.shortest), " to ", wavelength_text(group.longest));
}

Figure ablation_figure(const Analysis& a) {
  Figure figure;
  figure.id = "ablation";
  figure.title = "Loss without one third of the pairs";
  figure.shows =
      "Increase of the loss when the channels of a third of the pairs are set to 0 in "
      "queries and keys of every layer; bars are 95 % intervals over rows or items, "
      "paired with the whole model. " +
      finding_sentence(a, "ablation");
  figure.not_shown = "what a model trained without these pairs would do: it would use others";
  figure.formula = "loss without - loss with, nats per token; retrieval: of the right one of eight";
  figure.alt = "increase of loss by task and group of pairs";
  figure.evidence = {Evidence::Measured};
  Panel panel;
  panel.exports = true;
  panel.height = 340;
  panel.y.title = "increase of loss, nats";
  panel.markers = {{'y', 0.0, ""}};
  figure.csv = Csv({"task", "n", "loss", "without", "loss_without", "increase", "lo", "hi",
                    "accuracy", "accuracy_without", "chance"});
  for (size_t t = 0; t < a.ablation->tasks.size(); ++t) {
    panel.x.ticks.push_back(static_cast<double>(t));
    panel.x.tick_text.push_back(a.ablation->tasks[t].task);
  }
  panel.x.lo = -0.5;
  panel.x.hi = static_cast<double>(a.ablation->tasks.size()) - 0.5;
  for (size_t g = 0; g < kGroupNames.size(); ++g) {
    Trace trace;
    trace.name = kGroupNames[g];
    trace.arm = static_cast<int>(g) + 1;
    trace.lines = false;
    trace.markers = true;
    trace.size = 9;
    for (size_t t = 0; t < a.ablation->tasks.size(); ++t) {
      const analyze::TaskEffect& task = a.ablation->tasks[t];
      if (g >= task.groups.size()) {
        continue;
      }
      const analyze::GroupEffect& effect = task.groups[g];
      trace.x.push_back(static_cast<double>(t) + 0.15 * (static_cast<double>(g) - 1.0));
      trace.y.push_back(effect.increase.mean);
      trace.minus.push_back(effect.increase.mean - effect.increase.lo);
      trace.plus.push_back(effect.increase.hi - effect.increase.mean);
      trace.text.push_back(str(task.task, " without the ", trace.name,
                               " pairs: ", with_sign(effect.increase.mean, 3)));
      figure.csv.row(task.task, task.n, task.loss, trace.name, effect.loss, effect.increase.mean,
                     effect.increase.lo, effect.increase.hi, task.accuracy.value_or(kUnknown),
                     effect.accuracy.value_or(kUnknown), task.chance.value_or(kUnknown));
    }
    Key key;
    key.label = group_label(a.ablation->groups[g]);
    key.arm = trace.arm;
    key.line = false;
    figure.keys.push_back(key);
    panel.traces.push_back(std::move(trace));
  }
  figure.panels.push_back(std::move(panel));
  return figure;
}

std::string ablation_table(const Analysis& a) {
  Table table("ablation",
              "<b>Loss of each task</b>, nats per token, and what leaving pairs out adds");
  table.column("task");
  for (const char* title : {"rows or items", "whole model"}) {
    table.column(title, Align::Right);
  }
  for (const char* group : kGroupNames) {
    table.column(str("without ", group), Align::Right);
  }
  for (const analyze::TaskEffect& task : a.ablation->tasks) {
    std::string whole = fixed(task.loss, 3);
    if (task.accuracy) {
      whole += "<br><small>" + percent(*task.accuracy) + " right, chance " +
               percent(task.chance.value_or(kUnknown)) + "</small>";
    }
    std::vector<std::string> cells = {escape(task.task), std::to_string(task.n), whole};
    for (const analyze::GroupEffect& group : task.groups) {
      const analyze::Estimate& x = group.increase;
      cells.push_back(with_sign(x.mean, 3) + "<br><small>" + interval({x.lo, x.hi}, 3) +
                      (group.accuracy ? ", " + percent(*group.accuracy) + " right" : "") +
                      "</small>");
    }
    table.row(std::move(cells));
  }
  return table.html();
}

}  // namespace

Section analyze_ablation_section(const Analysis& a) {
  Section section("ablation-part", "What is lost without some pairs");
  if (!a.ablation) {
    section.left_out(a.positions ? "--no-ablation" : "nothing rotates");
    return section;
  }
  section.figure(ablation_figure(a));
  section.html(ablation_table(a));
  return section;
}

}  // namespace gyre::report

// facts.json: what a subject told about itself, written down for `accept show`, which asks nobody.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "gyre/accept/subject.h"

namespace gyre::accept {

/// A subject whose discover() leaves its facts in a file.
class FactsKeeper final : public Subject {
 public:
  FactsKeeper(std::unique_ptr<Subject> subject, std::filesystem::path file);

  std::string name() const override { return subject_->name(); }
  Facts discover() override;
  Reply ask(const Ask& ask) override { return subject_->ask(ask); }
  bool concurrent() const override { return subject_->concurrent(); }
  bool can(Api api) const override { return subject_->can(api); }
  std::optional<int64_t> count_tokens(const std::string& text) override {
    return subject_->count_tokens(text);
  }
  std::optional<std::string> render(const std::vector<Message>& messages) override {
    return subject_->render(messages);
  }

 private:
  std::unique_ptr<Subject> subject_;
  std::filesystem::path file_;
};

/// facts.json, schema gyre.accept_facts/1.
struct KnownFacts {
  std::string subject;
  Facts facts;
};
std::string to_json(const KnownFacts& known);
/// throws  Error(File) when it is not there, Error(Format) when it is none
KnownFacts read_facts(const std::filesystem::path& file);

}  // namespace gyre::accept

// Stands before a subject and sees to what a run must keep of it: the key never gets into a reply,
// whatever the server echoes, and what the server told about itself is written down once.
#pragma once

#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "gyre/accept/subject.h"

namespace gyre::accept {

class Guard final : public Subject {
 public:
  /// `key`: replaced by *** in every text that comes back; "" = there is none. `facts_file`: where
  /// discover() leaves its facts; "" = nowhere.
  Guard(std::unique_ptr<Subject> subject, std::string key, std::filesystem::path facts_file);

  std::string name() const override { return hidden(subject_->name()); }
  Facts discover() override;
  Reply ask(const Ask& ask) override;
  bool concurrent() const override { return subject_->concurrent(); }
  bool can(Api api) const override { return subject_->can(api); }
  std::optional<int64_t> count_tokens(const std::string& text) override {
    return subject_->count_tokens(text);
  }
  std::optional<std::string> render(const std::vector<Message>& messages) override {
    return subject_->render(messages);
  }

 private:
  std::string hidden(std::string text) const;

  std::unique_ptr<Subject> subject_;
  std::string key_;
  std::filesystem::path facts_file_;
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

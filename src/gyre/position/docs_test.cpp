// docs/schemes.md against the registry: every scheme has a section with its plot and its options.
#include <gtest/gtest.h>

#include <filesystem>
#include <set>

#include "gyre/base/error.h"
#include "gyre/base/files.h"
#include "gyre/position/scheme.h"

namespace gyre::position {
namespace {

const std::set<std::string> kShared = {"base", "layout", "rotary", "from", "original"};

TEST(Docs, DescribeEveryScheme) {
  const std::string docs = GYRE_SOURCE_DIR "/docs/";
  const std::string text = read_file(docs + "schemes.md");
  for (const SchemeInfo& info : schemes()) {
    const size_t begin = text.find("\n### `" + info.name + "`\n");
    ASSERT_NE(begin, std::string::npos) << info.name << " has no section";
    const size_t end = std::min(text.find("\n##", begin + 1), text.size());
    const std::string section = text.substr(begin, end - begin);
    const std::string plot = "schemes/" + info.name + ".svg";
    EXPECT_NE(section.find("(" + plot + ")"), std::string::npos) << info.name;
    EXPECT_TRUE(std::filesystem::exists(docs + plot)) << plot;
    const auto scheme = info.make();
    for (const Field& field : scheme->fields()) {
      const std::string quoted = "`" + field.name;
      EXPECT_NE((kShared.contains(field.name) ? text : section).find(quoted), std::string::npos)
          << info.name << " option " << field.name;
    }
  }
}

}  // namespace
}  // namespace gyre::position

// Files to documents: formats, what is refused and in which words.
#include "gyre/data/readers.h"

#include <sys/stat.h>
#include <zlib.h>
#include <zstd.h>

#include "gyre/base/files.h"
#include "gyre/data/json_lines.h"
#include "gyre/data/test_folder.h"
#include "gyre/data/utf8.h"

namespace gyre::data {
namespace {

std::vector<std::string> texts_of(const std::vector<std::string>& data,
                                  const std::string& field = "text") {
  std::vector<std::string> texts;
  for (Document& document : read_documents(resolve_sources(data), field)) {
    texts.push_back(std::move(document.text));
  }
  return texts;
}

using Texts = std::vector<std::string>;

std::string gzip(const std::string& text) {
  std::string out(compressBound(text.size()) + 64, '\0');
  z_stream s{};
  deflateInit2(&s, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  s.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  s.avail_in = static_cast<uInt>(text.size());
  s.next_out = reinterpret_cast<Bytef*>(out.data());
  s.avail_out = static_cast<uInt>(out.size());
  deflate(&s, Z_FINISH);
  out.resize(s.total_out);
  deflateEnd(&s);
  return out;
}

std::string zstd(const std::string& text) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  out.resize(ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 3));
  return out;
}

TEST(Readers, KeepBytesAsTheyAre) {
  const TestFolder f;
  const std::string text = "one\r\ntwo \xc3\xa9\n\n";
  EXPECT_EQ(texts_of({f.write("a.txt", text)}), (Texts{text}));
  EXPECT_EQ(texts_of({f.write("no_ending", text)}), (Texts{text}));
}

TEST(Readers, DecompressBothFormats) {
  const TestFolder f;
  const std::string text = numbered_text(700000);  // more than two chunks
  EXPECT_EQ(texts_of({f.write("a.txt.gz", gzip(text))}), (Texts{text}));
  EXPECT_EQ(texts_of({f.write("a.txt.zst", zstd(text))}), (Texts{text}));
  EXPECT_EQ(texts_of({f.write("two.gz", gzip("ab") + gzip("cd"))}), (Texts{"abcd"}));
  EXPECT_EQ(texts_of({f.write("two.zst", zstd("ab") + zstd("cd"))}), (Texts{"abcd"}));
  EXPECT_EQ(texts_of({f.write("a.jsonl.gz", gzip("{\"text\":\"x\"}\n{\"text\":\"y\"}"))}),
            (Texts{"x", "y"}));
  EXPECT_EQ(texts_of({f.write("a.jsonl.zst", zstd("{\"text\":\"x\"}"))}), (Texts{"x"}));
}

TEST(Readers, RefuseDamagedCompression) {
  const TestFolder f;
  const std::string text = numbered_text(100000);
  const auto message = [&](const std::string& name, const std::string& bytes) {
    return error_of(Code::Format, [&] { texts_of({f.write(name, bytes)}); });
  };
  expect_contains(message("cut.gz", gzip(text).substr(0, 5000)), "cut.gz: gzip data ends too soon");
  expect_contains(message("cut.zst", zstd(text).substr(0, 500)),
                  "cut.zst: zstd data ends too soon");
  expect_contains(message("no.gz", "plain text"), "no.gz: not valid gzip");
  expect_contains(message("no.zst", "plain text"), "no.zst: not valid zstd");
  expect_contains(message("tail.gz", gzip("ab") + "garbage"), "tail.gz: not valid gzip");
}

TEST(Readers, TakeFoldersInTheOrderOfTheirPaths) {
  const TestFolder f;
  f.write("d/b.txt", "B");
  f.write("d/a/z.md", "Z");
  f.write("d/a/y.jsonl", "{\"text\":\"Y\"}");
  f.write("d/.hidden/x.txt", "X");
  f.write("d/.x", "X");
  EXPECT_EQ(texts_of({(f / "d").string()}), (Texts{"Y", "Z", "B"}));
}

TEST(Readers, LeaveOutEmptyAndBinaryFilesOfFoldersAndSaySo) {
  const TestFolder f;
  f.write("d/a.txt", "A");
  f.write("d/empty.txt", "");
  f.write("d/image.png", std::string("\x89PNG\0\0", 6));
  EXPECT_EQ(texts_of({(f / "d").string()}), (Texts{"A"}));
  expect_contains(f.log_text(), "empty documents left out: 1");
  expect_contains(f.log_text(), "binary files left out: 1, e.g.");
  expect_contains(f.log_text(), "image.png");
}

TEST(Readers, RefuseEmptyBinaryAndBadlyEncodedFiles) {
  const TestFolder f;
  const auto message = [&](const std::string& name, const std::string& bytes) {
    return error_of(Code::Format, [&] { texts_of({f.write(name, bytes)}); });
  };
  expect_contains(message("e.txt", ""), "e.txt: empty file");
  expect_contains(message("n.txt", std::string("ab\0cd", 5)), "NUL byte at offset 2");
  expect_contains(message("u.txt", "caf\xe9 noir"), "u.txt: invalid UTF-8 at byte 3");
  expect_contains(message("u.txt", "caf\xe9 noir"), "iconv -f ISO-8859-1 -t UTF-8");
}

TEST(Readers, NoticeAFileThatChanged) {
  const TestFolder f;
  std::vector<Source> sources = resolve_sources({f.write("a.txt", "one")});
  sources[0].sha256 = sha256(std::string_view("two"));
  expect_contains(error_of(Code::Format, [&] { read_documents(sources, "text"); }),
                  "a.txt: changed while it was being read");
}

TEST(JsonLines, TakeTheNamedField) {
  EXPECT_EQ(read_json_lines("{\"a\":\"1\",\"b\":\"2\"}\r\n\n  \n{\"b\":\"\\u00e9\"}", "b", "x"),
            (Texts{"2", "\xc3\xa9"}));
}

TEST(JsonLines, NameTheLineThatIsWrong) {
  const auto message = [](const std::string& bytes) {
    return error_of(Code::Format, [&] { read_json_lines(bytes, "text", "f.jsonl"); });
  };
  const std::string good = "{\"text\":\"x\"}\n\n";
  expect_contains(message(good + "{oops"), "f.jsonl:3: not JSON: ");
  expect_contains(message(good + "[1]"), "f.jsonl:3: expected a JSON object, found array");
  expect_contains(message(good + "{\"text\":5}"), "f.jsonl:3: field 'text' is number");
  expect_contains(message(good + "{\"texts\":\"x\",\"id\":1}"),
                  "f.jsonl:3: no field 'text'; found: id, texts; nearest: texts");
  expect_contains(message(good + "{\"text\":\"\xff\"}"), "f.jsonl:3: not JSON: ");
  EXPECT_EQ(invalid_utf8_at(message("{\"text\":\"\xff\"}")), std::string::npos);
  EXPECT_LT(message("{\"text\":\"" + std::string(5000, 'x')).size(), 220U);
}

TEST(Sources, NameTheNearestCorpusForAnUnknownValue) {
  const TestFolder f;
  const std::string message = error_of(Code::Usage, [] { resolve_sources({"shakespear"}); });
  expect_contains(message, "--data 'shakespear': no such file or folder, and no corpus");
  expect_contains(message, "did you mean 'shakespeare'?");
  expect_contains(message, "kernel-docs");
}

TEST(Sources, RefuseWhatCannotBeRead) {
  const TestFolder f;
  std::filesystem::create_directories(f / "empty");
  expect_contains(error_of(Code::Format, [&] { resolve_sources({(f / "empty").string()}); }),
                  "empty folder");
  ASSERT_EQ(::mkfifo((f / "pipe").c_str(), 0600), 0);
  expect_contains(error_of(Code::File, [&] { resolve_sources({(f / "pipe").string()}); }),
                  "neither a regular file nor a folder");
  expect_contains(error_of(Code::Usage, [&] { resolve_sources({f.write("t.bin.gz", "x")}); }),
                  "decompress it first");
}

// Sequences from table 3-7 and 3-8 of the Unicode Standard.
TEST(Utf8, FindsTheFirstInvalidByte) {
  constexpr size_t kValid = std::string_view::npos;
  EXPECT_EQ(invalid_utf8_at("plain ascii, more than eight bytes"), kValid);
  EXPECT_EQ(invalid_utf8_at("\xc2\x80\xe0\xa0\x80\xf0\x90\x80\x80\xf4\x8f\xbf\xbf"), kValid);
  EXPECT_EQ(invalid_utf8_at("a\xc0\xaf"), 1U);            // overlong
  EXPECT_EQ(invalid_utf8_at("ab\xed\xa0\x80"), 2U);       // surrogate
  EXPECT_EQ(invalid_utf8_at("abc\xf4\x90\x80\x80"), 3U);  // past U+10FFFF
  EXPECT_EQ(invalid_utf8_at("12345678\xe2\x82"), 8U);     // cut short
  EXPECT_EQ(invalid_utf8_at("\x80"), 0U);
  EXPECT_EQ(latin1_to_utf8("caf\xe9"), "caf\xc3\xa9");
}

}  // namespace
}  // namespace gyre::data

// TLS: a certificate that nobody vouches for is refused, one that the user names is taken.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "gyre/accept/http_subject.h"
#include "gyre/accept/mock_testing.h"
#include "gyre/base/error.h"

namespace gyre::accept {
namespace {

namespace fs = std::filesystem;

struct Folder {
  Folder() : path(fs::temp_directory_path() / ("gyre_tls_" + std::to_string(getpid()))) {
    fs::create_directories(path);
  }
  ~Folder() { fs::remove_all(path); }
  fs::path path;
};

TEST(Tls, OnlyKnownCertificatesAreTaken) {
  const Folder folder;
  const std::string key = (folder.path / "key.pem").string();
  const std::string certificate = (folder.path / "cert.pem").string();
  const std::string make =
      "openssl req -x509 -newkey rsa:2048 -nodes -keyout " + key + " -out " + certificate +
      " -days 2 -subj /CN=localhost -addext subjectAltName=IP:127.0.0.1 2>/dev/null";
  if (std::system(make.c_str()) != 0) {
    GTEST_SKIP() << "no openssl program to make a certificate with";
  }
  const MockServer server({"--dialect", "openai", "--tls", certificate, key});
  EndpointOptions options;
  options.url = "https://127.0.0.1:" + std::to_string(server.port()) + "/v1";
  Ask ask;
  ask.messages = {{"user", "Checkpoint 1: KX7-3QD. What is the code of checkpoint 1?"}};
  const Reply refused = open_endpoint(options)->ask(ask);
  EXPECT_EQ(refused.fault, Fault::Connect);
  EXPECT_NE(refused.fault_text.find("certificate"), std::string::npos) << refused.fault_text;
  options.ca_file = certificate;
  const Reply taken = open_endpoint(options)->ask(ask);
  EXPECT_EQ(taken.text, "KX7-3QD") << taken.fault_text;

  options.ca_file = (folder.path / "none.pem").string();
  EXPECT_THROW(open_endpoint(options), Error);
  std::ofstream(options.ca_file) << "not a certificate\n";
  try {
    open_endpoint(options);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(std::string(error.what()),
              "--ca " + options.ca_file + " holds no certificate in PEM form");
  }
}

}  // namespace
}  // namespace gyre::accept

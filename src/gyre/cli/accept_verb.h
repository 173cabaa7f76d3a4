// What the parts of `gyre accept` share: its flags, and the three things that it does with them.
#pragma once

#include <string>

#include "gyre/accept/http_subject.h"
#include "gyre/accept/local_subject.h"
#include "gyre/accept/options.h"
#include "gyre/cli/option_set.h"
#include "gyre/cli/verb.h"

namespace gyre::cli {

struct AcceptVerb {
  CommonOptions common;
  OptionSet options;
  accept::AcceptOptions accept;
  accept::EndpointOptions endpoint;
  accept::LocalOptions local;
  std::string model;    // name at the endpoint, or path
  std::string key_env;  // variable that holds the key; "" = OPENAI_API_KEY, if it is set
  std::string out, junit, sid;
  int64_t attempts = 3;
  double longest_wait_s = 60;
  bool force = false, yes = false;

  bool remote() const { return !endpoint.url.empty(); }
  std::string key_variable() const { return key_env.empty() ? "OPENAI_API_KEY" : key_env; }
};

/// Prints and writes the result; 0 = PASS, 1 = anything else, 130 = stopped by Ctrl-C.
///
/// throws  Error(Usage); Error(Remote) when nothing at the address ever answered
int run_accept(AcceptVerb& verb);
int run_accept_plan(const AcceptVerb& verb);
int run_accept_show(const AcceptVerb& verb);

}  // namespace gyre::cli

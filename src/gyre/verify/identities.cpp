// The list of identities.
#include "gyre/verify/identity.h"

namespace gyre::verify {

#define GYRE_IDENTITY(function) Identity function();
#include "gyre/verify/identities.def"
#undef GYRE_IDENTITY

const std::vector<Identity>& identities() {
  static const std::vector<Identity> list = {
#define GYRE_IDENTITY(function) function(),
#include "gyre/verify/identities.def"
#undef GYRE_IDENTITY
  };
  return list;
}

}  // namespace gyre::verify

#include "machine/caps.h"

#include <algorithm>

#include "base/check.h"

namespace tilewright {

const MatrixUnit* Caps::matrix_unit(const std::string& name) const {
  for (const MatrixUnit& u : matrix_units)
    if (u.name == name) return &u;
  return nullptr;
}

const Memory* Caps::memory(const std::string& name) const {
  for (const Memory& m : memories)
    if (m.name == name) return &m;
  return nullptr;
}

const Engine* Caps::engine(const std::string& name) const {
  for (const Engine& e : engines)
    if (e.name == name) return &e;
  return nullptr;
}

const Engine& Caps::scalar_engine() const {
  const auto scalar = std::find_if(engines.begin(), engines.end(), [](const Engine& e) { return e.scalar; });
  TW_CHECK(scalar != engines.end(), target + ": no engine of this machine runs element loops");
  return *scalar;
}

const CopyPath* Caps::path(const std::string& from, const std::string& to) const {
  for (const CopyPath& p : paths)
    if (p.from == from && p.to == to) return &p;
  return nullptr;
}

}  // namespace tilewright

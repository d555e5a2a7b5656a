#include "chain/method.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace certus {
namespace {

// Filled while the module is loaded, before anybody reads it.
std::vector<Method>& registered() {
  static std::vector<Method> methods;
  return methods;
}

bool precedes(const Method& a, const Method& b) { return a.name < b.name; }

}  // namespace

Registration::Registration(const Method& method) {
  std::vector<Method>& methods = registered();
  methods.insert(std::upper_bound(methods.begin(), methods.end(), method, precedes), method);
}

const std::vector<Method>& all_methods() { return registered(); }

const Method& find_method(std::string_view name) {
  for (const Method& method : registered())
    if (method.name == name) return method;
  throw std::invalid_argument("there is no method " + std::string(name));
}

}  // namespace certus

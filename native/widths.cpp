#include "widths.hpp"

#include <algorithm>
#include <cstdlib>

namespace certus {

int vector_bytes() {
  static const int found = [] {
    int bytes = 16;
#if defined(CERTUS_HAS_CLONES)
    if (__builtin_cpu_supports("x86-64-v4")) bytes = 64;
    else if (__builtin_cpu_supports("x86-64-v3")) bytes = 32;
#endif
    const char* most = std::getenv("CERTUS_VECTOR_BYTES");
    return most ? std::clamp(std::atoi(most) / 16 * 16, 16, bytes) : bytes;
  }();
  return found;
}

}  // namespace certus

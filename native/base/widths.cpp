#include "base/widths.hpp"

#include <algorithm>
#include <cstdlib>

namespace certus {

int vector_bytes() {
  static const int found = [] {
    int bytes = 16;
#if defined(CERTUS_HAS_WIDTHS)
    if (__builtin_cpu_supports("avx2")) bytes = 32;
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl"))
      bytes = 64;
#endif
    const char* most = std::getenv("CERTUS_VECTOR_BYTES");
    return most ? std::clamp(std::atoi(most) / 16 * 16, 16, bytes) : bytes;
  }();
  return found;
}

}  // namespace certus

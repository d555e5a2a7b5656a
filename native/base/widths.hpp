// Loops that are compiled for every width of registers, and the choice between them.
#pragma once

#include "base/vector.hpp"

// Chosen by hand, they need no ifunc: other systems than those with clones have them, too.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(CERTUS_NO_CLONES)
#define CERTUS_HAS_WIDTHS 1
#define CERTUS_AVX512 __attribute__((target("avx512f,avx512vl,avx512dq,avx512bw")))
#define CERTUS_AVX2 __attribute__((target("avx2")))
#endif

namespace certus {

// The bytes of this machine's vector registers: 64, 32 or 16. Fewer where the environment says so
// (CERTUS_VECTOR_BYTES), to test and time on one machine what others run.
int vector_bytes();

}  // namespace certus

// Defines a function that runs `body<S, bytes>`, a template of functions that are always inlined.
#if defined(CERTUS_HAS_WIDTHS)
#define CERTUS_BY_WIDTH(result, name, S, body, parameters, arguments)         \
  namespace {                                                                 \
  CERTUS_AVX512 result name##_64 parameters { return body<S, 64> arguments; } \
  CERTUS_AVX2 result name##_32 parameters { return body<S, 32> arguments; }   \
  result name##_16 parameters { return body<S, 16> arguments; }               \
  }                                                                           \
  result name parameters {                                                    \
    static const int bytes = vector_bytes();                                  \
    if (bytes == 64) return name##_64 arguments;                              \
    return bytes == 32 ? name##_32 arguments : name##_16 arguments;           \
  }
#else
#define CERTUS_BY_WIDTH(result, name, S, body, parameters, arguments) \
  result name parameters { return body<S, 16> arguments; }
#endif

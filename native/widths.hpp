// Loops that are compiled for every width of registers, and the choice between them.
#pragma once

#include "vector.hpp"

#if defined(CERTUS_HAS_CLONES)
#define CERTUS_V4 __attribute__((target("arch=x86-64-v4")))
#define CERTUS_V3 __attribute__((target("arch=x86-64-v3")))
#endif

namespace certus {

// The bytes of this machine's vector registers: 64, 32 or 16. Fewer where the environment says so
// (CERTUS_VECTOR_BYTES), to test and time on one machine what others run.
int vector_bytes();

}  // namespace certus

// Defines a function that runs `body<S, bytes>`, a template of functions that are always inlined.
#if defined(CERTUS_HAS_CLONES)
#define CERTUS_BY_WIDTH(result, name, S, body, parameters, arguments)      \
  namespace {                                                              \
  CERTUS_V4 result name##_64 parameters { return body<S, 64> arguments; }  \
  CERTUS_V3 result name##_32 parameters { return body<S, 32> arguments; }  \
  result name##_16 parameters { return body<S, 16> arguments; }            \
  }                                                                        \
  result name parameters {                                                 \
    static const int bytes = vector_bytes();                               \
    if (bytes == 64) return name##_64 arguments;                           \
    return bytes == 32 ? name##_32 arguments : name##_16 arguments;        \
  }
#else
#define CERTUS_BY_WIDTH(result, name, S, body, parameters, arguments) \
  result name parameters { return body<S, 16> arguments; }
#endif

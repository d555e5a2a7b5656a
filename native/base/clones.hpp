// Calls of functions that are compiled for several machines.
#pragma once

namespace certus {

// GCC takes the dispatcher of a function with CERTUS_CLONES for one that throws nothing, and drops the handlers around
// calls in the file that defines it: an interrupt then ends the process. So functions that heed interrupts are called
// through this there, which hides what is called.
template <class Function>
[[gnu::always_inline]] inline Function* hide_clones(Function* function) {
#ifdef __GNUC__
  __asm__("" : "+r"(function));
#endif
  return function;
}

}  // namespace certus

// The time since something began.
#pragma once

#include <cstdint>

namespace certus {

std::int64_t read_clock();  // nanoseconds of a clock that is never set back

class Stopwatch {
 public:
  double elapsed() const { return 1e-9 * static_cast<double>(read_clock() - began_); }  // in seconds

 private:
  std::int64_t began_ = read_clock();
};

}  // namespace certus

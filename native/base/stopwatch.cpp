#include "base/stopwatch.hpp"

#include <chrono>

namespace certus {

std::int64_t read_clock() {
  return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace certus

// A time at which a search gives up what it is at.
#pragma once

#include <exception>
#include <limits>

#include "base/limits.hpp"
#include "base/stopwatch.hpp"

namespace certus::translate {

struct OutOfTime : std::exception {};

struct Deadline {
  Stopwatch watch;
  double seconds = kNoTimeLimit;  // of the watch

  bool is_over() const { return watch.elapsed() > seconds; }
  void check() const {
    if (is_over()) throw OutOfTime();
  }
};

}  // namespace certus::translate

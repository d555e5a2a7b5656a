// Open addressing, which every table of hashes here is built on.
#pragma once

#include <cstddef>

namespace certus {

// The first slot i from that of a hash on, round and round a table of mask + 1 slots, where ends(i). There must be one.
template <class Ends>
std::size_t find_slot(std::size_t hash, std::size_t mask, const Ends& ends) {
  std::size_t i = hash & mask;
  while (!ends(i)) i = (i + 1) & mask;
  return i;
}

}  // namespace certus

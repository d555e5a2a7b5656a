// Memory for the large tables of a model, aligned for vectors.
#pragma once

#include <cstddef>
#include <memory>
#include <new>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace certus {

struct FreePages {
  std::align_val_t alignment;
  void operator()(std::byte* p) const { ::operator delete[](p, alignment); }
};
using Pages = std::unique_ptr<std::byte[], FreePages>;

// Tables that nearly fill the second-level cache are laid on huge pages where the system has them: small pages,
// scattered over memory, compete for the same places in the cache while others stay empty.
inline Pages allocate(std::size_t bytes) {
  constexpr std::size_t kHuge = std::size_t{2} << 20, kLine = 64;
  const bool huge = bytes >= kHuge / 4;
  const std::size_t unit = huge ? kHuge : kLine;
  const std::align_val_t alignment{unit};
  Pages pages(new (alignment) std::byte[(bytes + unit - 1) / unit * unit], FreePages{alignment});
#if defined(__linux__)
  if (huge) madvise(pages.get(), (bytes + unit - 1) / unit * unit, MADV_HUGEPAGE);
#endif
  return pages;
}

}  // namespace certus

#include "learn/crf/vocabulary.hpp"

#include <stdexcept>

namespace certus::learn {
namespace {

std::uint64_t fold(std::uint64_t a, std::uint64_t b) {
  const unsigned __int128 product = static_cast<unsigned __int128>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

}  // namespace

// Eight bytes at a time, each folded in by a multiplication to twice the width.
std::uint64_t CrfVocabulary::hash(std::string_view name) {
  std::uint64_t h = name.size() ^ 0x9e3779b97f4a7c15ull;
  const char* p = name.data();
  std::size_t left = name.size();
  for (; left >= 8; p += 8, left -= 8) {
    std::uint64_t word;
    std::memcpy(&word, p, 8);
    h = fold(h ^ word, 0xa0761d6478bd642full);
  }
  std::uint64_t word = 0;
  std::memcpy(&word, p, left);
  return fold(h ^ word, 0xe7037ed1a0b428dbull);
}

std::size_t CrfVocabulary::place(std::string_view name, std::uint64_t hash) const {
  return find_slot(hash, mask(), [&](std::size_t at) {
    const Slot& s = slots_[at];
    return s.number == kUnknown ||
           (s.hash == hash && s.length == name.size() &&
            (name.empty() || std::memcmp(text_.data() + s.begin, name.data(), name.size()) == 0));
  });
}

Feature CrfVocabulary::find(std::string_view name, std::uint64_t hash) const {
  return slots_[place(name, hash)].number;
}

Feature CrfVocabulary::add(std::string_view name, std::uint64_t hash) {
  std::size_t at = place(name, hash);
  if (slots_[at].number != kUnknown) return slots_[at].number;
  if (size() >= static_cast<Index>(kUnknown) - 1 || name.size() >= kUnknown)
    throw std::length_error("more than 2^32 features, or the name of one is longer than 4 GiB");
  if (2 * begin_.size() > slots_.size()) {
    grow();
    at = place(name, hash);
  }
  const Feature number = static_cast<Feature>(size());
  slots_[at] = {hash, static_cast<Index>(text_.size()), static_cast<Feature>(name.size()), number};
  text_.insert(text_.end(), name.begin(), name.end());
  begin_.push_back(static_cast<Index>(text_.size()));
  return number;
}

void CrfVocabulary::grow() {
  std::vector<Slot> old(2 * slots_.size());
  old.swap(slots_);
  for (const Slot& s : old)
    if (s.number != kUnknown)
      slots_[find_slot(s.hash, mask(), [this](std::size_t at) { return slots_[at].number == kUnknown; })] = s;
}

}  // namespace certus::learn

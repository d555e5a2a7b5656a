#include "translate/vocabulary.hpp"

#include "base/hash.hpp"
#include "base/probing.hpp"

namespace certus::translate {

Word Vocabulary::find(std::string_view word) const {
  const auto mask = static_cast<std::size_t>(slot_count - 1);
  std::size_t slot = hashing::hash(word) & mask;
  for (Index looked = 0; looked < slot_count && slots[slot] != 0; ++looked, slot = (slot + 1) & mask)
    if (spell(slots[slot] - 1) == word) return slots[slot] - 1;
  return kUnknown;
}

WordTable::WordTable() : slots(64, 0) {
  for (const std::string_view word : kSpecial) add(word);
}

Word WordTable::add(std::string_view word) {
  const Vocabulary known = view();
  const std::size_t slot = find_slot(hashing::hash(word), slots.size() - 1,
                                     [&](std::size_t i) { return slots[i] == 0 || known.spell(slots[i] - 1) == word; });
  if (slots[slot] != 0) return slots[slot] - 1;
  bytes.insert(bytes.end(), word.begin(), word.end());
  bytes.push_back('\n');
  begin.push_back(static_cast<Index>(bytes.size()));
  slots[slot] = static_cast<std::uint32_t>(size());
  if (static_cast<std::size_t>(2 * size()) > slots.size()) grow();
  return static_cast<Word>(size() - 1);
}

void WordTable::grow() {
  slots.assign(2 * slots.size(), 0);
  const Vocabulary known = view();
  for (Word word = 0; word < static_cast<Word>(size()); ++word)
    slots[find_slot(hashing::hash(known.spell(word)), slots.size() - 1, [&](std::size_t i) { return slots[i] == 0; })] =
        word + 1;
}

}  // namespace certus::translate

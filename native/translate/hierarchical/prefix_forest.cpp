#include "translate/hierarchical/prefix_forest.hpp"

#include "base/hash.hpp"
#include "base/probing.hpp"

namespace certus::translate {
namespace {

// Finds prefixes by what they are made of.
class PrefixTable {
 public:
  explicit PrefixTable(std::vector<PrefixForest::Prefix>& prefixes) : prefixes_(prefixes) { rebuild(1024); }

  Index find(Index parent, Symbol symbol) {
    const std::size_t at = find_slot(hash(parent, symbol), slots_.size() - 1, [&](std::size_t i) {
      return slots_[i] == 0 || (prefixes_[slots_[i]].parent == parent && prefixes_[slots_[i]].symbol == symbol);
    });
    if (slots_[at] != 0) return slots_[at];
    const Index made = static_cast<Index>(prefixes_.size());
    slots_[at] = made;
    prefixes_.push_back({parent, symbol});
    if (2 * prefixes_.size() > slots_.size()) rebuild(2 * slots_.size());
    return made;
  }

 private:
  static std::size_t hash(Index parent, Symbol symbol) {
    return hashing::spread(hashing::mix(static_cast<std::uint64_t>(parent), static_cast<std::uint64_t>(symbol)));
  }
  void rebuild(std::size_t slots) {
    slots_.assign(slots, 0);
    for (std::size_t p = 2; p < prefixes_.size(); ++p) {
      const std::size_t at = find_slot(hash(prefixes_[p].parent, prefixes_[p].symbol), slots - 1,
                                       [&](std::size_t i) { return slots_[i] == 0; });
      slots_[at] = static_cast<Index>(p);
    }
  }

  std::vector<PrefixForest::Prefix>& prefixes_;
  std::vector<Index> slots_;  // 0, or a prefix
};

}  // namespace

PrefixForest::PrefixForest(const TargetForest& forest) : prefixes{{-1, 0}, {-1, 0}} {
  const std::vector<char> starts = find_starts(forest);
  PrefixTable table(prefixes);
  for (Index v = 0; v < forest.nodes; ++v) {
    prefix_first.push_back(static_cast<Index>(prefixes.size()));
    for (Index e = forest.edge_first[v]; e < forest.edge_first[v + 1]; ++e) {
      const std::span<const Symbol> symbols = forest.list_symbols(e);
      Index at = reads_start(starts, v, symbols) ? kStart : kAnywhere;
      for (const Symbol symbol : symbols) at = table.find(at, symbol);
      whole.push_back(at);
    }
  }
  prefix_first.push_back(static_cast<Index>(prefixes.size()));
}

}  // namespace certus::translate

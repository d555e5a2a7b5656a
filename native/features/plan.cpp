#include "features/plan.hpp"

#include <algorithm>
#include <cstdlib>
#include <stdexcept>

namespace certus::features {
namespace {

Index most_values(const Term& term) {
  return term.is_affix() ? term.high - term.low + 1 : term.function == Function::each ? kMostValues : 1;
}

void number(std::int32_t& place, Index& count) {
  if (place < 0) place = static_cast<std::int32_t>(count++);
}

}  // namespace

Plan::Plan(const std::vector<std::int32_t>& program, Index columns) {
  if (columns < 1) throw std::invalid_argument("there must be at least one column, the word");
  looked.assign(static_cast<std::size_t>(columns), -1);
  lowered.assign(static_cast<std::size_t>(columns), -1);
  place_of({Function::text, false, 0});
  Key count = 0;
  for (const Template& each : read_program(program, columns)) add(each, spread(++count));
}

void Plan::add(const Template& each, Key seed) {
  const auto start = static_cast<std::uint32_t>(operands.size());
  Instruction made{seed, start, start, kOne};
  for (const Term& term : each.terms) add(term, made);
  if (each.condition != Condition::rare) code[0].push_back(made);
  if (each.condition != Condition::frequent) code[1].push_back(made);
  conditional |= each.condition != Condition::always;
  most += each.terms.empty() ? 1 : most_values(each.terms.back());
}

void Plan::add(const Term& term, Instruction& into) {
  const auto column = static_cast<std::size_t>(term.column);
  margin = std::max(margin, std::abs(term.offset));
  asks_seen |= term.function == Function::seen;
  if (term.lower) number(lowered[column], lowered_count);
  if (term.lower || term.is_look()) number(looked[column], looked_count);
  if (term.is_several()) {
    into.several = static_cast<std::int32_t>(severals.size());
    severals.push_back({term, term.is_affix() ? affix(term) : 0});
  } else {
    operands.push_back({view(term), term.offset});
    ++into.last;
  }
}

std::size_t Plan::view(const Term& term) {
  const std::size_t plain = term.lower ? place_of({Function::text, false, term.column}) : 0;
  return place_of({term.function, term.lower, term.column, plain});
}

std::size_t Plan::place_of(const View& wanted) {
  const auto found = std::find(views.begin(), views.end(), wanted);
  if (found != views.end()) return static_cast<std::size_t>(found - views.begin());
  views.push_back(wanted);
  return views.size() - 1;
}

std::size_t Plan::affix(const Term& term) {
  const bool suffix = term.function == Function::suffix;
  auto found = std::find_if(affixes.begin(), affixes.end(), [&](const Affix& a) {
    return a.suffix == suffix && a.lower == term.lower && a.column == term.column;
  });
  if (found == affixes.end()) found = affixes.insert(found, {suffix, term.lower, term.column, 0});
  found->longest = std::max(found->longest, term.high);
  longest = std::max(longest, term.high);
  return static_cast<std::size_t>(found - affixes.begin());
}

}  // namespace certus::features

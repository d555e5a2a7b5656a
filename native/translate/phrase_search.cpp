#include "translate/phrase_search.hpp"

#include <stdexcept>

#include "base/conclusion.hpp"

namespace certus::translate {

namespace {

PhraseAnswer search_by_method(const PhraseProblem& problem, const ForbiddenTerms& terms, const SearchOptions& options) {
  if (options.method == "optimal-beam") return search_optimal_beam(problem, terms, options);
  if (options.method == "beam") return search_fixed_beam(problem, terms, options);
  if (options.method == "lagrangian") return search_lagrangian(problem, terms, options);
  if (options.method == "astar") return search_astar(problem, terms, options);
  if (options.method == "stack") return search_stacks(problem, terms, options);
  throw std::invalid_argument("there is no method " + options.method);
}

}  // namespace

PhraseAnswer search_phrases(const PhraseProblem& problem, const ForbiddenTerms& terms, const SearchOptions& options) {
  if (problem.words() > kLongestSentence)
    throw std::invalid_argument("a sentence of " + std::to_string(problem.words()) + " words is too long: split it, " +
                                std::to_string(kLongestSentence) + " is the most");
  PhraseAnswer answer = search_by_method(problem, terms, options);
  answer.bound_if_unbounded(problem, options.size.k);
  return answer;
}

bool Incumbents::is_same(const Derivation& a, std::span<const Option> b) const {
  const PhraseOptions& options = problem_.options();
  if (!size_.distinct) return std::equal(a.options.begin(), a.options.end(), b.begin(), b.end());
  const auto spell = [&](std::span<const Option> all) {
    std::vector<Word> words;
    for (const Option o : all) words.insert(words.end(), options.list_text(o).begin(), options.list_text(o).end());
    return words;
  };
  return spell(a.options) == spell(b);
}

void Incumbents::add(std::vector<Option> options) {
  const double score = problem_.score(options);
  if (score == kNever<double>) return;
  const auto same =
      std::find_if(best_.begin(), best_.end(), [&](const Derivation& other) { return is_same(other, options); });
  if (same != best_.end()) {
    if (same->score >= score) return;
    best_.erase(same);
  }
  const auto place = std::upper_bound(best_.begin(), best_.end(), score,
                                      [](double value, const Derivation& other) { return value > other.score; });
  best_.insert(place, {std::move(options), score});
  if (static_cast<Index>(best_.size()) > size_.k) best_.pop_back();
}

void PhraseAnswer::settle(Incumbents& found, double dropped, Index k) {
  const double lower = found.lower();
  bound = std::min(bound, std::max(dropped, lower));
  exhausted = found.size() < k && bound == kNever<double>;
  best = found.take();
  conclude(exhausted && !best.empty() ? best.back().score : lower);
}

void PhraseAnswer::bound_if_unbounded(const PhraseProblem& problem, Index k) {
  if (bound < std::numeric_limits<double>::infinity()) return;
  bound = problem.bound_derivations();
  conclude(static_cast<Index>(best.size()) < k ? kNever<double> : best.back().score);
}

void PhraseAnswer::conclude(double last) {
  const Conclusion concluded = certus::conclude(last, bound, last == kNever<double> ? 0 : find_margin(last));
  status = concluded.status;
  bound = concluded.bound;
}

}  // namespace certus::translate

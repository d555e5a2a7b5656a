// Beam search with signatures and bounds (Rush et al. 2013, figure 3), layer by layer of words translated.
//
// Three slips of the figures are mended: PRUNE returns whether something was pruned, not its opposite; what is read in
// the end is the signature b, all words once; and instead of a flag, the best bound of all that was pruned comes back,
// which is a bound of the optimum.
#include <numeric>

#include "translate/phrase_expander.hpp"

namespace certus::translate {

namespace {

template <int W>
class Beam {
 public:
  Beam(const PhraseRelaxation& relaxation, const std::vector<double>& multipliers, const ForbiddenTerms& terms,
       const BeamOptions& options, Incumbents& found)
      : problem_(relaxation.graph().problem()),
        expander_(relaxation, multipliers, terms, options.size.distinct),
        options_(options),
        found_(found),
        layers_(problem_.words() + 1) {}

  BeamOutcome run() {
    layers_[0].items.push_back(expander_.make_start());
    for (Index n = 0; n < problem_.words(); ++n) {
      note_dropped(layers_[n].keep_best(options_.size.width));
      layers_[n].forget_slots();
      for (std::uint32_t i = 0; i < layers_[n].items.size(); ++i) {
        if (i % 64 == 0 && options_.deadline.is_over()) return give_up(n, i);
        const Hypothesis<W>& from = layers_[n].items[i];
        if (from.bound < found_.threshold()) continue;
        ++outcome_.expanded;
        expander_.expand(n, i, from, found_.threshold(), *this);
      }
    }
    finish();
    return outcome_;
  }

  // What the expander asks.
  bool ignores(Index n, double bound) const { return bound <= outcome_.dropped && !layers_[n].has_room(bound); }
  bool wants(Index n, double bound) {
    const bool has_room = layers_[n].has_room(bound);
    if (!has_room) note_dropped(bound);
    return has_room;
  }
  void take(Index n, const Hypothesis<W>& made) {
    ++outcome_.made;
    note_dropped(layers_[n].add(made, options_.size));
  }

 private:
  void note_dropped(double bound) {
    if (bound >= found_.threshold()) outcome_.dropped = std::max(outcome_.dropped, bound);
  }
  // Whatever is not expanded yet is left out.
  BeamOutcome give_up(Index n, std::uint32_t from) {
    outcome_.timed_out = true;
    for (std::uint32_t i = from; i < layers_[n].items.size(); ++i) note_dropped(layers_[n].items[i].bound);
    for (Index m = n + 1; m <= problem_.words(); ++m) note_dropped(layers_[m].find_best_bound());
    finish();
    return outcome_;
  }

  // Offers whole derivations, best first, until no other can be of use.
  void finish() {
    const auto& items = layers_.back().items;
    std::vector<std::uint32_t> order(items.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return items[a].bound > items[b].bound; });
    for (const std::uint32_t item : order) {
      if (items[item].bound < found_.threshold()) break;
      found_.add(list_options(item));
    }
  }
  std::vector<Option> list_options(std::uint32_t item) const {
    std::vector<Option> options;
    for (Index n = problem_.words(); n > 0;) {
      const Hypothesis<W>& one = layers_[n].items[item];
      options.push_back(one.option);
      item = one.parent;
      n -= problem_.options().end[one.option] - problem_.options().begin[one.option];
    }
    std::reverse(options.begin(), options.end());
    return options;
  }

  const PhraseProblem& problem_;
  PhraseExpander<W> expander_;
  const BeamOptions& options_;
  Incumbents& found_;
  std::vector<HypothesisLayer<W>> layers_;  // [words translated]
  BeamOutcome outcome_;
};

}  // namespace

BeamOutcome search_beam(const PhraseRelaxation& relaxation, const std::vector<double>& multipliers,
                        const ForbiddenTerms& terms, const BeamOptions& options, Incumbents& found) {
  return choose_width(relaxation.graph().problem().words(),
                      [&]<int W> { return Beam<W>(relaxation, multipliers, terms, options, found).run(); });
}

}  // namespace certus::translate

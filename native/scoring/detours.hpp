// The best sequences that leave the last lattice of a cascade, found exactly.
//
// Sequences are made from left to right, with their exact scores; what cannot lead above a limit by what Onward says of
// the rest is left out. Of those with the same last labels, as many as the order, only the best goes on.
//
// The bounds are made from the last position to the first, and what leaves the lattice at a position is looked at
// before the bounds of the position before are made: after the best path to a state s, each way that leaves the lattice
// there is followed until it is too bad. Then none from s scores more than the limit, or than the best that was found,
// less best[s], which is a bound of all sequences through s, as they have the order's labels in common. So a bound that
// is too high lifts no bounds of earlier positions. Where several answers are wanted, and the bounds still allow some,
// all paths of the lattice are followed as far as they may leave it, too.
#pragma once

#include <vector>

#include "scoring/onward_bounds.hpp"

namespace certus::scoring {

class Detours {
 public:
  struct Found {
    double score;
    std::vector<Label> labels;  // [T]
  };

  // Sequences that leave the lattice and score more than a limit: with `k` = 1 the best of them, otherwise all. Returns
  // a bound of what they score that were not found, which is above the limit only if they would be too many to look at.
  double find(Cascade& cascade, const NgramTable& ngrams, Index order, double limit, Index k, const Allowed* allowed,
              const UnitScores& units);
  std::vector<Found> found;  // the best first
  // Whether bounds alone were not enough.
  bool has_searched() const { return searched_; }

 private:
  // A sequence up to a position.
  struct Way {
    double score;
    double owed;          // what its labels that are no candidates may add to the ways on of later states
    std::int32_t before;  // the one that it goes on from; -1 for the best path to a state of the last lattice
    Label label;          // the last
    Index level;          // the highest order of a state for its last labels, which is
    std::uint32_t state;  // this; 0 for labels that are no candidates
    Index since;          // how many labels ago the last one was that is no candidate; 2 if it does not matter
    bool inside;          // whether it is a path of the last lattice
    Key full[kMostOrder], coarse[kMostOrder];  // [n]: keys of its last n + 1 labels, and of their coarse tags
  };

  // How a sequence may go on.
  struct Step {
    Label label;
    Index level;          // the highest order of a state for the last labels,
    std::uint32_t state;  // and this state; 0 for labels that are no candidates
    float node;           // what the label scores, with the n-grams of up to `level` labels
    double on;            // of labels that are no candidates, the best way on
  };

  bool list_all();
  void search_from(Index t, bool keeps);
  bool expand(Index t, std::size_t begin, std::size_t end);
  void start(std::uint32_t s);
  void keep_found(std::size_t begin);
  void go_to_candidates(Index t, const Way& way, std::int32_t number);
  void go_to_candidate(const Way& way, std::int32_t number, const Step& step);
  void plan_candidate(Index t, const Way& way, std::uint32_t candidate);
  void plan(const Way& way, const Step& step);
  void go_to_others(Index t, const Way& way, std::int32_t number);
  template <class Try>
  void plan_rests(Index t, const Way& way, const Try& try_label);
  void go_to_label(Index t, const Way& way, std::int32_t number, const Step& step);
  bool is_legal(Label before, Label y) const;
  double weigh(const Way& way, Label y, Index level, float node, Way& next) const;
  void keep(const Way& next);
  std::uint32_t& find_same(const Way& way);
  void trace(std::int32_t number, Found& out) const;

  Onward onward_;
  Cascade* cascade_ = nullptr;
  const NgramTable* ngrams_ = nullptr;
  const Allowed* allowed_ = nullptr;
  UnitScores units_;
  Index order_ = 0;
  double limit_ = 0;
  bool searched_ = false;
  bool lists_ = false;  // whether all sequences are wanted, paths of the lattice to where they leave it included
  // Whether the best is wanted, and the lattice has nothing above the limit: what is worse than its paths can be left
  // out, as these go on in the same way. Of several answers both may be.
  bool is_best_ = false;
  std::size_t left_ = 0;                       // how many may still be looked at
  std::uint32_t states_[kMostOrder + 1] = {};  // of the way that goes on, [order]
  std::vector<Step> steps_;                    // of the way that goes on
  std::vector<Way> ways_;                      // of all positions
  std::size_t first_ = 0;                      // of those of the next position
  std::vector<std::uint32_t> same_;            // 1 + the places of these after the first, by their last labels, or 0
  std::vector<float> places_;                  // scores of labels of the next position
  std::vector<std::uint8_t> is_scored_;        // [groups]: whether they are known
};

}  // namespace certus::scoring

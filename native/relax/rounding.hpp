// Wholes from parts: what one part chose, completed in the others; the parts one after the other, each under what those
// before it chose; or variable by variable, as they vote.
#pragma once

#include <memory>
#include <unordered_set>
#include <vector>

#include "relax/dual.hpp"

namespace certus::relax {

// Structures of all parts in agreement.
struct Whole {
  double score = kNever<double>;            // of all, -inf while none is known
  std::vector<std::vector<Index>> used;     // [parts]: cells
  std::vector<double> scores;               // [parts], times weights
  std::vector<std::shared_ptr<void>> kept;  // [parts]: see Part::structure
};

// Keeps the best whole. How often parts are asked for others is bounded by how often they are asked for the dual.
class Rounding {
 public:
  explicit Rounding(Dual& dual);

  const Whole& best() const { return best_; }
  double size() const { return size_; }  // the magnitude of the best whole's scores, 0 while none is known
  Index completions(Index p) const { return completions_[p]; }  // how often a part completed what others chose

  // Lets the open parts choose, in their order or against it.
  void round(bool forward);
  // Fixes variables one after the other as they are worth most, where what follows from that is cheap to find.
  void decide();
  // Lets all parts choose under what is known of the first variables.
  void complete(const std::vector<std::int8_t>& on);
  // Takes what the parts have chosen, where they agree.
  void take();
  // Completes what the parts chose, within the budget; returns the best score found in this round, or NaN.
  double propose();

 private:
  bool has_to_choose(Index p, const CellGroup& group) const;
  void begin();
  double finish();
  double complete_from(Index source);
  bool complete_known(Index source, bool* offered);
  bool complete_rest(Index source);
  double vote();
  double fix_in_order();
  bool choose(Index p);
  bool know(Index p, const std::vector<Index>& used);
  bool is_new(Index source);

  Dual& dual_;
  const Problem& problem_;
  Whole best_, found_;
  std::vector<std::int8_t> on_;            // [variables] that are known in the whole in the making
  std::vector<std::uint8_t> is_covering_;  // [parts]: has all shared variables once,
  std::vector<std::uint8_t> is_covered_;   // and no others
  std::vector<Index> completions_, cells_, order_;
  std::vector<double> wishes_, worths_;  // [variables]: above 0 for on; [copies]
  std::unordered_set<std::uint64_t> seen_;
  double spent_ = 0, earned_ = 0;
  double size_ = 0;  // of the best whole
  Index turn_ = 0, rounds_ = 0;
  bool votes_ = true;
  bool leaves_out_ = true;  // no part has to choose anything
};

}  // namespace certus::relax

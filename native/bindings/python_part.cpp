#include "bindings/python_part.hpp"

#include <algorithm>
#include <utility>

#include "base/time_limit.hpp"
#include "bindings/arrays.hpp"
#include "bindings/vectors.hpp"
#include "relax/dual.hpp"

namespace certus {
namespace {

constexpr double kBonus = 0x1p2, kReach = 0x1p20,
                 kMore = 0x1p9;        // of the scores: the first bonus, the last before a probe, and the steps
constexpr double kRounding = 0x1p-50;  // of the bonuses: what adding them may cost

std::shared_ptr<void> hold(nb::object object) {
  return {new nb::object(std::move(object)), [](void* held) {
            const nb::gil_scoped_acquire lock;
            delete static_cast<nb::object*>(held);
          }};
}

}  // namespace

PythonPart::PythonPart(nb::object oracle, Index cells)
    : Part(std::vector<double>(cells, 0.0)),
      oracle_(std::move(oracle)),
      marginals_(nb::cast<bool>(oracle_.attr("has_max_marginals"))),
      completes_(nb::cast<bool>(oracle_.attr("completes"))),
      utmost_(relax::Dual::kLargest) {
  for (Index c = 0; c < cells; ++c) add_group(c, c + 1, false);
}

PythonPart::~PythonPart() {
  const nb::gil_scoped_acquire lock;
  oracle_.reset();
}

void PythonPart::set_scale(double largest) {
  bonus_ = kBonus * largest;
  reach_ = kReach * largest;
}

// The adjustments, with the bonus of cells that are required.
std::vector<double> PythonPart::list_adjustments() const {
  std::vector<double> adjustments(sums_);
  for (Index c = 0; c < cells(); ++c)
    if (required_[c] && sums_[c] != kNever<double>) adjustments[c] = bonus_;
  return adjustments;
}

// Lists the cells of an answer and returns its score; None is none.
double PythonPart::read(const nb::object& answer, std::vector<Index>& used) {
  used.clear();
  if (answer.is_none()) return kNever<double>;
  const auto cells = nb::cast<Flat<const Index>>(answer.attr("used"));
  used.assign(cells.data(), cells.data() + cells.shape(0));
  found_ = hold(answer.attr("choice"));
  return nb::cast<double>(answer.attr("score"));
}

bool PythonPart::is_refused(const std::vector<Index>& used) const {
  Index chosen = 0;
  for (const Index c : used) chosen += required_[c];
  return chosen < count_required();
}

Index PythonPart::count_required() const { return std::count(required_.begin(), required_.end(), std::uint8_t{1}); }

// Whether the part chooses what is required for the largest bonus that it takes. A part that fails for one has its own
// limit for scores, which are below it, too.
bool PythonPart::can_choose() {
  const double bonus = bonus_;
  for (; utmost_ > bonus; utmost_ /= kReach) {
    bonus_ = utmost_;
    try {
      std::vector<Index> used;
      read(oracle_.attr("maximize")(array(list_adjustments())), used);
      bonus_ = bonus;
      return !is_refused(used);
    } catch (const nb::python_error& error) {
      bonus_ = bonus;
      if (!error.matches(nb::module_::import_("certus.relax.errors").attr("PartFailed"))) throw;
    }
  }
  return false;
}

double PythonPart::maximize(std::vector<Index>& used) {
  const nb::gil_scoped_acquire lock;
  const TimeLimit::Lifted lifted;
  const double before = bonus_;
  while (true) {
    asked_ = list_adjustments();
    value_ = kNever<double>;
    const double score = read(oracle_.attr("maximize")(array(std::vector<double>(asked_))), used);
    if (score == kNever<double>) return score;
    value_ = score;
    for (const Index c : used) value_ += required_[c] ? 0 : sums_[c];
    if (!is_refused(used)) return score;
    if (!(bonus_ < reach_) && !can_choose()) {
      bonus_ = before;  // a large one rounds away what scores differ by
      asked_ = list_adjustments();
      value_ = kNever<double>;
      return kNever<double>;
    }
    bonus_ *= kMore;
  }
}

bool PythonPart::max_marginals(double* with, double* without) {
  if (!marginals_) return false;
  const nb::gil_scoped_acquire lock;
  const TimeLimit::Lifted lifted;
  // The part's own maximum bounds structures without a cell; a structure with all bonuses has them taken off again.
  if (asked_ != list_adjustments()) maximize(used_);
  const double bonus = bonus_ * static_cast<double>(count_required());
  const nb::object answer =
      value_ == kNever<double> ? nb::none() : oracle_.attr("max_marginals")(array(list_adjustments()));
  if (answer.is_none()) {
    std::fill_n(with, cells(), kNever<double>);
    std::fill_n(without, cells(), kNever<double>);
    return true;
  }
  const auto best = nb::cast<Flat<const double>>(answer);
  for (Index c = 0; c < cells(); ++c) with[c] = best.data()[c] - bonus + kRounding * bonus;
  std::fill_n(without, cells(), value_);
  return true;
}

bool PythonPart::complete(const std::vector<Index>& used, double* score) {
  if (!completes_) return false;
  const nb::gil_scoped_acquire lock;
  const TimeLimit::Lifted lifted;
  *score = read(oracle_.attr("complete")(array(std::vector<Index>(used))), used_);
  if (used_ != used) *score = kNever<double>;
  return true;
}

}  // namespace certus

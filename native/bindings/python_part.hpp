// A part that is a Python object: asked with Python's lock held.
#pragma once

#include <nanobind/nanobind.h>

#include "relax/part.hpp"

namespace certus {

// `oracle` is a certus.relax.oracle.Oracle, which checks what the part says. A cell that is required gets a bonus: one
// large enough makes a part choose the cell if it can. One that refuses a bonus above all scores that it takes is
// unable.
class PythonPart final : public relax::Part {
 public:
  PythonPart(nanobind::object oracle, Index cells);
  ~PythonPart() override;

  double maximize(std::vector<Index>& used) override;
  bool max_marginals(double* with, double* without) override;
  bool offers_max_marginals() const override { return marginals_; }
  bool has_cheap_max_marginals() const override { return false; }
  bool complete(const std::vector<Index>& used, double* score) override;
  void set_scale(double largest) override;
  double bonus() const override { return bonus_ * static_cast<double>(count_required()); }
  std::shared_ptr<void> structure() const override { return found_; }

 private:
  std::vector<double> list_adjustments() const;
  double read(const nanobind::object& answer, std::vector<Index>& used);
  bool is_refused(const std::vector<Index>& used) const;
  Index count_required() const;
  bool can_choose();

  nanobind::object oracle_;
  bool marginals_, completes_;
  double bonus_ = 0, reach_ = 0, utmost_;  // utmost: the largest bonus that the part takes, as far as is known
  std::vector<double> asked_;              // by maximize(), last,
  double value_ = kNever<double>;          // and what its answer was worth, without bonuses
  std::shared_ptr<void> found_;            // the Choice
  std::vector<Index> used_;
};

}  // namespace certus

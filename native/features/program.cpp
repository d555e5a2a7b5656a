#include "features/program.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace certus::features {
namespace {

class Reader {
 public:
  Reader(const std::vector<std::int32_t>& program, Index columns) : program_(program), columns_(columns) {}

  std::vector<Template> read() {
    if (next(INT32_MIN, INT32_MAX) != kVersion)
      throw std::invalid_argument("the templates were compiled by another version of Certus");
    std::vector<Template> templates(count());
    for (Template& each : templates) {
      each.condition = static_cast<Condition>(next(0, 2));
      each.terms.resize(count());
      for (Term& term : each.terms) term = read_term();
      put_several_last(each.terms);
    }
    if (at_ != program_.size()) fail();
    return templates;
  }

 private:
  [[noreturn]] void fail() const {
    throw std::invalid_argument("damaged templates: number " + std::to_string(at_) + " of the program makes no sense");
  }

  std::int32_t next(std::int32_t least, Index most) {
    if (at_ == program_.size() || program_[at_] < least || program_[at_] > most) fail();
    return program_[at_++];
  }

  // How many parts follow, each of at least one number.
  std::size_t count() { return static_cast<std::size_t>(next(0, static_cast<Index>(program_.size() - at_))); }

  Term read_term() {
    Term term;
    term.function = static_cast<Function>(next(0, static_cast<Index>(Function::seen)));
    term.lower = next(0, term.is_plain() ? 0 : 1) == 1;
    term.column = next(0, term.function == Function::seen ? 0 : columns_ - 1);
    term.offset = next(-kFarthest, kFarthest);
    term.low = next(term.is_affix() ? 1 : 0, term.is_affix() ? kLongestAffix : 0);
    term.high = next(term.low, term.is_affix() ? kLongestAffix : 0);
    return term;
  }

  void put_several_last(std::vector<Term>& terms) const {
    const auto single = [](const Term& term) { return !term.is_several(); };
    const auto several = std::stable_partition(terms.begin(), terms.end(), single);
    if (terms.end() - several > 1) fail();
  }

  const std::vector<std::int32_t>& program_;
  Index columns_;
  std::size_t at_ = 0;
};

}  // namespace

std::vector<Template> read_program(const std::vector<std::int32_t>& program, Index columns) {
  return Reader(program, columns).read();
}

}  // namespace certus::features

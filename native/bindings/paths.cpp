// Paths one at a time, best first: one forward pass when made, then a search that goes as far as it is asked.
#include <nanobind/stl/optional.h>

#include <memory>
#include <optional>

#include "bindings/sentence.hpp"
#include "chain/solvers/viterbi_astar.hpp"

using namespace nb::literals;

namespace certus {
namespace {

// Owns the memory of the search, which outlives the call that began it. Not to be used by two threads at once.
template <class S>
class Paths {
 public:
  Paths(const Model<S>& model, const Sentence<S>& sentence) {
    if (sentence.length == 0) return;
    begun = check_scores<S>(sentence, model);
    if (begun.status == Status::invalid) return;
    if (model.only_sparse()) begin(model, sentence, model.sparse());
    else begin(model, sentence, model.dense());
  }
  Paths(const Paths&) = delete;
  Paths& operator=(const Paths&) = delete;

  // Tells whether there was another path; its score is summed in the order of the sentence.
  bool next(Index* labels, double* score) { return search_ && search_->next(labels, score); }
  double remaining() const { return search_ ? search_->remaining() : kNever<double>; }

  Result begun;  // whether there is any path, and if not, why

 private:
  struct Search {  // hides how the transitions are held
    virtual ~Search() = default;
    virtual bool next(Index* labels, double* score) = 0;
    virtual double remaining() const = 0;
  };

  template <class Tr>
  struct SearchIn final : Search {
    SearchIn(const Model<S>& model, const Sentence<S>& s, const Tr& tr, Arena& arena)
        : trellis(s.data, s.length, s.stride, model, tr, arena),
          reach(forward(trellis, arena)),
          paths(FullColumns<Tr>(trellis, reach, arena)) {}
    bool next(Index* labels, double* score) override {
      if (!paths.next(labels)) return false;
      *score = trellis.score(labels);
      return true;
    }
    double remaining() const override { return paths.remaining(); }

    Trellis<Tr> trellis;
    Forward<S> reach;
    NextBest<FullColumns<Tr>> paths;
  };

  template <class Tr>
  void begin(const Model<S>& model, const Sentence<S>& sentence, const Tr& transitions) {
    auto search = std::make_unique<SearchIn<Tr>>(model, sentence, transitions, arena_);
    if (search->reach.died >= 0) begun = {.status = Status::infeasible, .position = search->reach.died};
    else search_ = std::move(search);
  }

  Arena arena_;
  Arena::Scope scope_{arena_};  // open for as long as the search: scopes within it give nothing of its memory back
  std::unique_ptr<Search> search_;
};

template <class S>
void bind_paths_of(nb::module_& m, const char* name) {
  using P = Paths<S>;
  nb::class_<P>(m, name)
      .def(
          "__init__",
          [](P* self, const Model<S>& model, const Matrix<S>& emissions) {
            const nb::gil_scoped_release released;
            new (self) P(model, sentence<S>(emissions));
          },
          "model"_a, "emissions"_a.noconvert(), nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>())
      // The lock stays held: a path is short work, and two threads must not search at once.
      .def(
          "next",
          [](P& self, Flat<Index> labels) -> std::optional<double> {
            double score = 0;
            if (!self.next(labels.data(), &score)) return std::nullopt;
            return score;
          },
          "labels"_a.noconvert(), "Write the next path and return its score; None where there is no more.")
      .def_prop_ro("remaining", &P::remaining)
      .def_ro("begun", &P::begun);
}

}  // namespace

void bind_paths(nb::module_& m) {
  bind_paths_of<float>(m, "Paths32");
  bind_paths_of<double>(m, "Paths64");
}

}  // namespace certus

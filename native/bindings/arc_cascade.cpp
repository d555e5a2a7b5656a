// Cascades of passes that choose which arcs are scored: learning them, and running them.
#include "scoring/arc_cascade.hpp"

#include <nanobind/stl/string.h>

#include <string>

#include "bindings/arc_texts.hpp"
#include "learn/arcs/head_learner.hpp"
#include "learn/arcs/pass_learner.hpp"

using namespace nb::literals;

namespace certus {
namespace {

using features::ArcPlan;
using learn::ArcCandidates;
using learn::HeadLearner;
using learn::HighestThresholds;
using learn::OpenArcs;
using learn::PassLearner;
using learn::TreeCorpus;
using namespace scoring;

constexpr const char* kKinds[] = {"local", "local-short", "vine", "first", "second"};

PassOptions make_options(const std::string& kind, Index reach, bool posterior, bool single_root) {
  for (std::uint8_t k = 0; k < 5; ++k)
    if (kind == kKinds[k]) {
      if (reach < 1) refuse("short arcs are of at least one word");
      return {static_cast<PassKind>(k), reach, posterior, single_root};
    }
  refuse("there is no pass '" + kind + "'");
}

void check_options(const PassOptions& options, const ArcPlan& plan) {
  if (options.kind == PassKind::second && !plan.has(features::ArcPart::sibling))
    refuse("a pass of the second order needs templates of siblings");
}

StepTable make_table(const ArcPlan& plan, const Flat<const std::int16_t>& weights, double step) {
  if (extent(weights) != Index{1} << plan.bits()) refuse("the weights are for other templates");
  return {weights.data(), step};
}

// The view of the column that lengths go by; -1 stands for no lengths.
Index find_view(const ArcPlan& plan, Index column, const Flat<const std::uint16_t>& lengths) {
  if (column < 0) return ArcCascade::kNoView;
  const Index view = plan.find_view(column);
  if (view < 0) refuse("no template looks at the column that lengths go by");
  if (extent(lengths) != Index{1} << kLengthBits) refuse("the table of lengths has another size");
  return view;
}

std::vector<std::uint16_t> learn_lengths(const TreeCorpus& corpus, const ArcPlan& plan, Index column) {
  const Index view = plan.find_view(column);
  if (view < 0) refuse("no template looks at the column that lengths go by");
  const nb::gil_scoped_release released;
  return learn::learn_lengths(corpus, view);
}

void make_open(OpenArcs* self, const TreeCorpus& corpus, const ArcPlan& plan, Index column,
               Flat<const std::uint16_t> lengths, bool with_trees) {
  const Index view = find_view(plan, column, lengths);
  const nb::gil_scoped_release released;
  new (self) OpenArcs(corpus, view, view < 0 ? nullptr : lengths.data(), with_trees);
}

void make_learner(PassLearner* self, OpenArcs& open, const ArcPlan& plan, const std::string& kind, Index reach,
                  bool posterior, bool single_root, double at, float rate) {
  const PassOptions options = make_options(kind, reach, posterior, single_root);
  check_options(options, plan);
  const nb::gil_scoped_release released;
  new (self) PassLearner(open, plan, options, at, rate);
}

void make_cascade(ArcCascade* self, const ArcPlan& plan, Index column, Flat<const std::uint16_t> lengths) {
  const Index view = find_view(plan, column, lengths);
  new (self) ArcCascade(plan, view, lengths.data());
}

void add_pass(ArcCascade& self, Flat<const std::int16_t> weights, const std::string& kind, Index reach, bool posterior,
              bool single_root, double step, double at) {
  const PassOptions options = make_options(kind, reach, posterior, single_root);
  check_options(options, self.plan());
  self.add({options, make_table(self.plan(), weights, step), at});
}

// The arcs of sentences, one after the other.
struct ListedArcs {
  std::vector<Index> count;             // [sentences]
  std::vector<Label> heads, modifiers;  // [arcs]
};

ListedArcs prune(const ArcCascade& self, nb::handle sentences, Index passes) {
  const Texts texts(sentences, self.plan().columns());
  const nb::gil_scoped_release released;
  ArcCascade::Worker worker(self);
  syntax::Arcs arcs;
  ListedArcs out;
  Heed heed;
  for (Index n = 0; n < texts.size(); ++n) {
    heed(1024 * texts.at(n).length);
    worker.prune(texts.at(n), passes, arcs);
    out.count.push_back(arcs.size());
    out.heads.insert(out.heads.end(), arcs.heads().begin(), arcs.heads().end());
    out.modifiers.insert(out.modifiers.end(), arcs.all_modifiers().begin(), arcs.all_modifiers().end());
  }
  return out;
}

ArcCandidates choose_candidates(const TreeCorpus& corpus, const ArcPlan& plan, Flat<const float> heads, double ratio,
                                Index most) {
  if (extent(heads) != Index{1} << plan.bits()) refuse("the weights of candidates are for other templates");
  const nb::gil_scoped_release released;
  return learn::choose_candidates(corpus, plan, heads.data(), {ratio, most});
}

template <class Work>
auto run_pass(OpenArcs& open, const ArcPlan& plan, const Flat<const std::int16_t>& weights, const std::string& kind,
              Index reach, bool posterior, bool single_root, double step, double at, const Work& work) {
  const CascadePass pass{make_options(kind, reach, posterior, single_root), make_table(plan, weights, step), at};
  check_options(pass.options, plan);
  const nb::gil_scoped_release released;
  return work(open, plan, pass);
}

void make_head_learner(HeadLearner* self, const TreeCorpus& corpus, const ArcPlan& plan, float rate, bool trees,
                       bool single_root) {
  new (self) HeadLearner(corpus, plan, {rate, trees, single_root});
}

void bind_learners(nb::module_& m) {
  nb::class_<HeadLearner>(m, "HeadLearner")
      .def("__init__", &make_head_learner, "corpus"_a, "plan"_a, nb::kw_only(), "rate"_a, "trees"_a, "single_root"_a,
           nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>())
      .def("epoch", &run_epoch<HeadLearner>, "order"_a)
      .def("compile", [](const HeadLearner& self) { return quantize(self.weights); })
      .def("weights", [](const HeadLearner& self) { return array(std::vector<float>(self.weights)); });
  nb::class_<ArcCandidates>(m, "ArcCandidates");
  m.def("choose_candidates", &choose_candidates, "corpus"_a, "plan"_a, "heads"_a, "ratio"_a, "most"_a);
  m.def(
      "learn_lengths",
      [](const TreeCorpus& corpus, const ArcPlan& plan, Index column) {
        return array(learn_lengths(corpus, plan, column));
      },
      "corpus"_a, "plan"_a, "column"_a);
  nb::class_<PassLearner>(m, "PassLearner")
      .def("__init__", &make_learner, "open"_a, "plan"_a, nb::kw_only(), "kind"_a, "reach"_a, "posterior"_a,
           "single_root"_a, "at"_a, "rate"_a, nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>())
      .def("epoch", &run_epoch<PassLearner>, "order"_a)
      .def("compile", [](const PassLearner& self) { return quantize(self.weights); });
}

}  // namespace

void bind_arc_cascade(nb::module_& m) {
  bind_learners(m);
  define_arrays(nb::class_<HighestThresholds>(m, "HighestThresholds"), "words", &HighestThresholds::words, "sentences",
                &HighestThresholds::sentences);
  nb::class_<OpenArcs>(m, "OpenArcs")
      .def("__init__", &make_open, "corpus"_a, "plan"_a, "column"_a, "lengths"_a, "with_trees"_a,
           nb::keep_alive<1, 2>())
      .def("list",
           [](OpenArcs& self) {
             const nb::gil_scoped_release released;
             return self.list();
           })
      .def(
          "find_highest_thresholds",
          [](OpenArcs& self, const ArcPlan& plan, Flat<const std::int16_t> weights, const std::string& kind,
             Index reach, bool posterior, bool single_root, double step, Index each) {
            if (each < 1) refuse("one sentence in at least one is looked at");
            return run_pass(self, plan, weights, kind, reach, posterior, single_root, step, 0,
                            [each](OpenArcs& open, const ArcPlan& by, const CascadePass& pass) {
                              return learn::find_highest_thresholds(open, by, pass, each);
                            });
          },
          "plan"_a, "weights"_a, nb::kw_only(), "kind"_a, "reach"_a, "posterior"_a, "single_root"_a, "step"_a, "each"_a)
      .def(
          "close",
          [](OpenArcs& self, const ArcPlan& plan, Flat<const std::int16_t> weights, const std::string& kind,
             Index reach, bool posterior, bool single_root, double step, double at) {
            run_pass(self, plan, weights, kind, reach, posterior, single_root, step, at, learn::close_arcs);
          },
          "plan"_a, "weights"_a, nb::kw_only(), "kind"_a, "reach"_a, "posterior"_a, "single_root"_a, "step"_a, "at"_a);
  define_arrays(nb::class_<ListedArcs>(m, "ListedArcs"), "count", &ListedArcs::count, "heads", &ListedArcs::heads,
                "modifiers", &ListedArcs::modifiers);
  nb::class_<ArcCascade>(m, "ArcCascade")
      .def("__init__", &make_cascade, "plan"_a, "column"_a, "lengths"_a, nb::keep_alive<1, 2>(), nb::keep_alive<1, 4>())
      .def("add", &add_pass, "weights"_a, nb::kw_only(), "kind"_a, "reach"_a, "posterior"_a, "single_root"_a, "step"_a,
           "at"_a, nb::keep_alive<1, 2>())
      .def("prune", &prune, "sentences"_a, "passes"_a);
}

}  // namespace certus

// Dependency parsers: templates of arcs, learners, and parsing with a trained model.
#include "scoring/arc_model.hpp"

#include <nanobind/stl/vector.h>

#include <stdexcept>

#include "base/parallel.hpp"
#include "bindings/arc_texts.hpp"
#include "learn/arcs/label_learner.hpp"
#include "learn/arcs/tree_learner.hpp"

using namespace nb::literals;

namespace certus {
namespace {

using features::ArcPlan;
using learn::TreeCorpus;
using learn::TreeLearner;
using namespace scoring;

void make_plan(ArcPlan* self, Flat<const std::int32_t> program, Index columns, int bits) {
  try {
    new (self) ArcPlan(copy(program), columns, bits);
  } catch (const std::invalid_argument& error) {
    refuse(error.what());
  }
}

Relations make_relations(const Flat<const std::uint8_t>& of_root, const Flat<const std::uint8_t>& of_others) {
  Relations out;
  out.count = extent(of_root);
  if (extent(of_others) != out.count || out.count == 0)
    refuse("there must be as many relations of the root as of others");
  for (Index r = 0; r < out.count; ++r) {
    out.of_root.push_back(of_root.data()[r]);
    out.of_others.push_back(of_others.data()[r]);
  }
  return out;
}

void make_corpus(TreeCorpus* self, const ArcPlan& pruning, const ArcPlan& plan, nb::handle sentences,
                 Flat<const Label> heads, Flat<const Label> relations) {
  const Texts texts(sentences, plan.columns());
  if (pruning.columns() != plan.columns()) refuse("both sets of templates must be over the same columns");
  if (extent(heads) != texts.tokens() || extent(relations) != texts.tokens())
    refuse("there must be a head and a relation for each word");
  new (self) TreeCorpus();
  self->heads = copy(heads);
  self->relations = copy(relations);
  self->first = texts.starts();
  for (Index n = 0; n < texts.size(); ++n)
    for (Index m = self->first[n]; m < self->first[n + 1]; ++m) {
      const Label h = self->heads[m];
      if (h < 0 || h > texts.at(n).length || h == m - self->first[n] + 1)
        refuse(Place{n, -1, m - self->first[n]}.say() + "its head is " + std::to_string(h));
    }
  const nb::gil_scoped_release released;
  self->pruning.resize(static_cast<std::size_t>(texts.size()));
  self->words.resize(static_cast<std::size_t>(texts.size()));
  Heed heed;
  for (Index n = 0; n < texts.size(); ++n) {
    heed(1024 * texts.at(n).length);
    pruning.look_up(texts.at(n), self->pruning[n]);
    plan.look_up(texts.at(n), self->words[n]);
  }
}

// Trees that are hard to prove are learned from as they are found.
constexpr Index kTrainingNodes = 20;

void make_tree_learner(TreeLearner* self, const TreeCorpus& corpus, const learn::ArcCandidates& candidates,
                       const learn::ArcCandidates& likely, const std::vector<const CoarseModel*>& coarse,
                       const ArcPlan& plan, const Flat<const std::uint8_t>& of_root,
                       const Flat<const std::uint8_t>& of_others, bool mira, bool from_automata, float aggressiveness,
                       float relation_cost, Index burn_in, bool projective, bool single_root) {
  const Relations relations = make_relations(of_root, of_others);
  if (static_cast<Index>(candidates.arcs.size()) != corpus.sentences()) refuse("the candidates are of another corpus");
  for (const Label r : corpus.relations)
    if (r < 0 || r >= relations.count) refuse("there is no relation " + std::to_string(r));
  const learn::TreeLearnerOptions options{mira,           from_automata,
                                          aggressiveness, relation_cost,
                                          burn_in,        {projective, single_root, kNoTimeLimit, kTrainingNodes}};
  const nb::gil_scoped_release released;
  new (self) TreeLearner(corpus, candidates, likely, coarse, plan, relations, options);
}

// A learner of relations, and the words of the corpus as its templates see them.
struct LabelTrainer {
  LabelTrainer(std::vector<features::ArcWords> seen, const TreeCorpus& corpus, const ArcPlan& plan,
               const Relations& relations, float aggressiveness)
      : words(std::move(seen)), learner(corpus, words, plan, relations, aggressiveness) {}

  std::vector<features::ArcWords> words;
  learn::LabelLearner learner;

  const TreeCorpus& corpus() const { return learner.corpus(); }
  double epoch(const Index* order, Index count) { return learner.epoch(order, count); }
};

void make_label_learner(LabelTrainer* self, const TreeCorpus& corpus, const ArcPlan& plan, nb::handle sentences,
                        const Flat<const std::uint8_t>& of_root, const Flat<const std::uint8_t>& of_others,
                        float aggressiveness) {
  const Texts texts(sentences, plan.columns());
  const Relations relations = make_relations(of_root, of_others);
  if (texts.size() != corpus.sentences() || texts.tokens() != corpus.tokens())
    refuse("the sentences are of another corpus");
  for (const Label r : corpus.relations)
    if (r < 0 || r >= relations.count) refuse("there is no relation " + std::to_string(r));
  const nb::gil_scoped_release released;
  std::vector<features::ArcWords> words(static_cast<std::size_t>(texts.size()));
  for (Index n = 0; n < texts.size(); ++n) plan.look_up(texts.at(n), words[n]);
  new (self) LabelTrainer(std::move(words), corpus, plan, relations, aggressiveness);
}

nb::dict tree_state(TreeLearner& self) {
  nb::dict out;
  out["weights"] = array(std::vector<float>(self.weights));
  out["memory"] = array(std::vector<float>(self.memory));
  out["numbers"] = Numbers(self.epochs, self.steps).write();
  return out;
}
void restore_trees(TreeLearner& self, const nb::dict& state) {
  const Numbers numbers(self.epochs, self.steps);
  const auto found = numbers.find(state);
  const auto weights = get<float>(state, "weights", self.size());
  const auto memory = get<float>(state, "memory", self.size());
  std::copy_n(weights.data(), self.size(), self.weights.data());
  std::copy_n(memory.data(), self.size(), self.memory.data());
  numbers.restore(found);
}

void make_heads(HeadModel* self, const ArcPlan& plan, Flat<const std::int16_t> weights, double step, double prior,
                bool single_root) {
  if (extent(weights) != Index{1} << plan.bits()) refuse("the weights are for other templates");
  new (self) HeadModel{plan, {weights.data(), step}, prior, single_root};
}

void make_coarse(CoarseModel* self, const ArcPlan& plan, Flat<const std::int16_t> weights, double step, double scale,
                 double cap) {
  if (extent(weights) != Index{1} << plan.bits()) refuse("the weights are for other templates");
  new (self) CoarseModel{plan, {weights.data(), step}, scale, cap};
}

void make_labels(LabelModel* self, const ArcPlan& plan, const Flat<const std::int16_t>& weights, double step,
                 Index relations) {
  if (extent(weights) != (Index{1} << plan.bits()) + relations) refuse("the weights are for other templates");
  new (self) LabelModel{plan, {weights.data(), step}};
}

void make_model(ArcModel* self, const HeadModel* heads, const ArcCascade* cascade, const CoarseModel* coarse,
                const LabelModel* labels, const ArcPlan& plan, Flat<const std::int16_t> weights, double step,
                const Flat<const std::uint8_t>& of_root, const Flat<const std::uint8_t>& of_others) {
  const Relations relations = make_relations(of_root, of_others);
  if (extent(weights) != (Index{1} << plan.bits()) + relations.count) refuse("the weights are for other templates");
  if ((heads != nullptr) + (cascade != nullptr) + (coarse != nullptr) != 1)
    refuse("one of heads, a cascade and a coarse model chooses the arcs");
  new (self) ArcModel(heads, cascade, coarse, labels, plan, {weights.data(), step}, relations);
}

// Trees of sentences, those of a sentence best first.
struct ParsedTrees {
  std::vector<Index> count, candidates;                    // [sentences]
  std::vector<Label> heads, relations;                     // of all trees, one after the other
  std::vector<double> scores, bounds;                      // [trees]
  std::vector<std::uint8_t> exhausted;                     // [sentences]: whether these are all trees there are
  std::vector<std::uint8_t> proven, searched;              // [trees]: over all arcs, over those that were scored
  std::vector<Index> iterations, nodes, automata, solved;  // [trees]; see FoundTree

  void add(const ParsedTree& parsed, double step) {
    heads.insert(heads.end(), parsed.heads.begin(), parsed.heads.end());
    relations.insert(relations.end(), parsed.relations.begin(), parsed.relations.end());
    scores.push_back(parsed.tree.score * step);
    const bool whole = parsed.tree.proven && parsed.bound <= parsed.tree.score;
    bounds.push_back((whole ? parsed.tree.score : parsed.bound) * step);
    proven.push_back(whole);
    searched.push_back(parsed.tree.proven);
    iterations.push_back(parsed.tree.iterations);
    nodes.push_back(parsed.tree.nodes);
    automata.push_back(parsed.tree.automata);
    solved.push_back(parsed.tree.solved);
  }
};

ParsedTrees parse_unlocked(const ArcModel& self, const Texts& texts, const ParsingOptions& options, Index k,
                           Index threads) {
  const Index count = std::max<Index>(1, std::min(threads, texts.size()));
  std::vector<ArcModel::Worker> workers;
  for (Index t = 0; t < count; ++t) workers.emplace_back(self);
  std::vector<std::vector<ParsedTree>> found(static_cast<std::size_t>(texts.size()));
  ParsedTrees out;
  out.candidates.resize(found.size());
  out.exhausted.resize(found.size());
  parallel(texts.size(), count, [&](Index n, Index thread) {
    if (k > 1) {
      bool exhausted = true;
      workers[thread].rank(texts.at(n), options, k, found[n], &exhausted);
      out.exhausted[n] = exhausted;
    } else {
      ParsedTree best;
      workers[thread].parse(texts.at(n), options, best);
      if (best.tree.exists) found[n].push_back(std::move(best));
    }
    if (!found[n].empty()) out.candidates[n] = found[n][0].candidates;
  });
  for (const std::vector<ParsedTree>& several : found) {
    out.count.push_back(static_cast<Index>(several.size()));
    for (const ParsedTree& parsed : several) out.add(parsed, self.step());
  }
  return out;
}

ParsedTrees parse_all(const ArcModel& self, nb::handle sentences, bool projective, bool single_root, double ratio,
                      Index most, Index k, double seconds, Index threads, Index paper_iterations) {
  const Texts texts(sentences, self.columns());
  ParsingOptions options{{projective, single_root, seconds}, {ratio, most}};
  options.kind.paper_iterations = paper_iterations;
  try {
    const nb::gil_scoped_release released;
    return parse_unlocked(self, texts, options, k, threads);
  } catch (const std::length_error&) {
    refuse("a sentence is too long for all its siblings and grandparents to be scored: raise pruning");
  }
}

nb::tuple score_arcs(const ArcModel& self, nb::handle sentences) {
  const Texts texts(sentences, self.columns());
  if (texts.size() != 1) refuse("the arcs of one sentence are scored at a time");
  const Index n = texts.at(0).length;
  std::vector<double> scores(static_cast<std::size_t>(n * (n + 1)));
  std::vector<Label> relations(scores.size());
  {
    const nb::gil_scoped_release released;
    ArcModel::Worker(self).score_all(texts.at(0), scores.data(), relations.data());
  }
  return nb::make_tuple(reshape(std::move(scores), n, n + 1), reshape(std::move(relations), n, n + 1));
}

// The arcs of a sentence that are scored, and the scores of all parts, as syntax/dependency/arcs.hpp lays them out.
struct ScoredParts {
  std::vector<Label> heads, modifiers;
  std::vector<double> arcs, siblings, grandparents, grandsiblings;
};

ScoredParts score_parts(const ArcModel& self, nb::handle sentences, double ratio, Index most) {
  const Texts texts(sentences, self.columns());
  if (texts.size() != 1) refuse("the parts of one sentence are scored at a time");
  const nb::gil_scoped_release released;
  ArcModel::Worker worker(self);
  ParsingOptions options;
  options.limits = {ratio, most};
  worker.score_parts(texts.at(0), options);
  const PartTables& tables = worker.tables();
  ScoredParts out{worker.arcs().heads(), worker.arcs().all_modifiers(), tables.arcs,
                  tables.siblings,       tables.grandparents,           tables.grandsiblings};
  for (std::vector<double>* scores : {&out.arcs, &out.siblings, &out.grandparents, &out.grandsiblings})
    for (double& score : *scores) score *= self.step();
  return out;
}

double score_heads(const ArcModel& self, nb::handle sentences, Flat<const Label> heads) {
  const Texts texts(sentences, self.columns());
  if (texts.size() != 1 || extent(heads) != texts.tokens()) refuse("there must be a head for each word of a sentence");
  for (Index m = 0; m < extent(heads); ++m)
    if (heads.data()[m] < 0 || heads.data()[m] > extent(heads) || heads.data()[m] == m + 1)
      refuse("word " + std::to_string(m + 1) + " has the head " + std::to_string(heads.data()[m]));
  const nb::gil_scoped_release released;
  return ArcModel::Worker(self).score_tree(texts.at(0), heads.data());
}

}  // namespace

void bind_dependency_parser(nb::module_& m) {
  nb::class_<ArcPlan>(m, "ArcPlan")
      .def("__init__", &make_plan, "program"_a, "columns"_a, "bits"_a)
      .def_prop_ro("bits", &ArcPlan::bits)
      .def_prop_ro("columns", &ArcPlan::columns);
  nb::class_<TreeCorpus>(m, "TreeCorpus")
      .def("__init__", &make_corpus, "pruning"_a, "plan"_a, "sentences"_a, "heads"_a, "relations"_a)
      .def_prop_ro("sentences", &TreeCorpus::sentences)
      .def_prop_ro("tokens", &TreeCorpus::tokens);
  define_fields(nb::class_<learn::TreeEpoch>(m, "TreeEpoch"), "wrong", &learn::TreeEpoch::wrong, "sentences",
                &learn::TreeEpoch::sentences);
  nb::class_<TreeLearner>(m, "TreeLearner")
      .def("__init__", &make_tree_learner, "corpus"_a, "candidates"_a, "likely"_a, "coarse"_a, "plan"_a, nb::kw_only(),
           "of_root"_a, "of_others"_a, "mira"_a, "from_automata"_a, "aggressiveness"_a, "relation_cost"_a, "burn_in"_a,
           "projective"_a, "single_root"_a, nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>(), nb::keep_alive<1, 4>(),
           nb::keep_alive<1, 5>(), nb::keep_alive<1, 6>())
      .def("epoch", &run_epoch<TreeLearner>, "order"_a)
      .def("compile", [](const TreeLearner& self) { return quantize(self.average()); })
      .def("state", &tree_state)
      .def("restore", &restore_trees, "state"_a)
      .def_ro("epochs", &TreeLearner::epochs);
  define_arrays(nb::class_<ParsedTrees>(m, "ParsedTrees"), "count", &ParsedTrees::count, "heads", &ParsedTrees::heads,
                "relations", &ParsedTrees::relations, "scores", &ParsedTrees::scores, "bounds", &ParsedTrees::bounds,
                "proven", &ParsedTrees::proven, "searched", &ParsedTrees::searched, "exhausted",
                &ParsedTrees::exhausted, "candidates", &ParsedTrees::candidates, "iterations", &ParsedTrees::iterations,
                "nodes", &ParsedTrees::nodes, "automata", &ParsedTrees::automata, "solved", &ParsedTrees::solved);
  define_arrays(nb::class_<ScoredParts>(m, "ScoredParts"), "heads", &ScoredParts::heads, "modifiers",
                &ScoredParts::modifiers, "arcs", &ScoredParts::arcs, "siblings", &ScoredParts::siblings, "grandparents",
                &ScoredParts::grandparents, "grandsiblings", &ScoredParts::grandsiblings);
  nb::class_<HeadModel>(m, "HeadModel")
      .def("__init__", &make_heads, "plan"_a, "weights"_a, "step"_a, nb::kw_only(), "prior"_a, "single_root"_a,
           nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>());
  nb::class_<CoarseModel>(m, "CoarseModel")
      .def("__init__", &make_coarse, "plan"_a, "weights"_a, "step"_a, nb::kw_only(), "scale"_a, "cap"_a,
           nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>());
  nb::class_<LabelModel>(m, "LabelModel")
      .def("__init__", &make_labels, "plan"_a, "weights"_a, "step"_a, "relations"_a, nb::keep_alive<1, 2>(),
           nb::keep_alive<1, 3>());
  nb::class_<LabelTrainer>(m, "LabelLearner")
      .def("__init__", &make_label_learner, "corpus"_a, "plan"_a, "sentences"_a, nb::kw_only(), "of_root"_a,
           "of_others"_a, "aggressiveness"_a, nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>())
      .def("epoch", &run_epoch<LabelTrainer>, "order"_a)
      .def("compile", [](const LabelTrainer& self) { return quantize(self.learner.average()); });
  nb::class_<ArcModel>(m, "ArcModel")
      .def("__init__", &make_model, "heads"_a.none(), "cascade"_a.none(), "coarse"_a.none(), "labels"_a.none(),
           "plan"_a, "weights"_a, "step"_a, "of_root"_a, "of_others"_a, nb::keep_alive<1, 2>(), nb::keep_alive<1, 3>(),
           nb::keep_alive<1, 4>(), nb::keep_alive<1, 5>(), nb::keep_alive<1, 6>(), nb::keep_alive<1, 7>())
      .def("parse", &parse_all, "sentences"_a, nb::kw_only(), "projective"_a, "single_root"_a, "ratio"_a, "most"_a,
           "k"_a, "seconds"_a, "threads"_a, "paper_iterations"_a = 0)
      .def("score_arcs", &score_arcs, "sentences"_a)
      .def("score_parts", &score_parts, "sentences"_a, nb::kw_only(), "ratio"_a, "most"_a)
      .def("score_tree", &score_heads, "sentences"_a, "heads"_a);
}

}  // namespace certus

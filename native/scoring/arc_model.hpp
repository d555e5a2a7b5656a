// A trained dependency parser: candidates, scores, the best tree, its relations. The weights may lie in a model file.
#pragma once

#include <optional>

#include "scoring/admissible_search.hpp"
#include "scoring/arc_cascade.hpp"
#include "scoring/arcs.hpp"
#include "scoring/head_candidates.hpp"
#include "scoring/tree_labels.hpp"
#include "scoring/tree_search.hpp"
#include "syntax/dependency/eisner.hpp"

namespace certus::scoring {

// The model that chooses heads; see head_candidates.hpp. Without a prior it goes word by word. Otherwise it is one of
// trees, and the logarithms of their arcs' probabilities, times the prior, are added to the scores of arcs.
struct HeadModel {
  const ArcPlan& plan;
  StepTable weights;
  double prior = 0;
  bool single_root = false;
};

// A coarse model of arcs, whose scores the features of the parser refine: times `scale`, and `cap` more, they bound all
// that the parser adds up for an arc. See PartTables::refine() and admissible_search.hpp.
struct CoarseModel {
  const ArcPlan& plan;
  StepTable weights;
  double scale = 1;
  double cap = 0;
};

// The model that chooses the relations of a tree that was found; see tree_labels.hpp.
struct LabelModel {
  const ArcPlan& plan;
  StepTable weights;
};

struct ParsingOptions {
  TreeKind kind;
  CandidateLimits limits;
};

struct ParsedTree {
  FoundTree tree;                       // its score and bound are in the units of the model, over the arcs scored
  double bound = 0;                     // no tree scores more, whatever its arcs are; infinite where none is known
  std::vector<Label> heads, relations;  // [n]
  Index candidates = 0;                 // how many arcs were scored
};

class ArcModel {
 public:
  // What chooses the arcs to score is one of `heads`, `cascade` and `coarse`; the others are null. Without `labels`,
  // relations are those that were chosen with the arcs.
  ArcModel(const HeadModel* heads, const ArcCascade* cascade, const CoarseModel* coarse, const LabelModel* labels,
           const ArcPlan& plan, StepTable weights, const Relations& relations)
      : heads_(heads),
        cascade_(cascade),
        coarse_(coarse),
        labels_(labels),
        plan_(plan),
        weights_(weights),
        relations_(relations) {}

  // What one thread works with.
  class Worker {
   public:
    explicit Worker(const ArcModel& model)
        : model_(model), parts_(model.plan_, model.relations_, model.weights_.weights) {
      if (model.heads_) heads_.emplace(model.heads_->plan, model.heads_->weights.weights);
      if (model.coarse_) heads_.emplace(model.coarse_->plan, model.coarse_->weights.weights);
      if (model.cascade_) cascade_.emplace(*model.cascade_);
      if (model.labels_) labels_.emplace(model.labels_->plan, model.relations_, model.labels_->weights.weights);
    }

    // Throws std::length_error where siblings and grandparents would take too much memory.
    void parse(const features::Sentence& sentence, const ParsingOptions& options, ParsedTree& out);
    // `exhausted`: whether these are all trees there are.
    void rank(const features::Sentence& sentence, const ParsingOptions& options, Index k, std::vector<ParsedTree>& out,
              bool* exhausted);
    // The scores of all arcs with their best relations, [n][n + 1]: scores[m - 1][h], -inf from a word to itself.
    void score_all(const features::Sentence& sentence, double* scores, Label* relations);
    // The arcs of a sentence that are scored, and the scores of all parts.
    void score_parts(const features::Sentence& sentence, const ParsingOptions& options);
    const Arcs& arcs() const { return arcs_; }
    const PartTables& tables() const { return tables_; }
    // The score of a tree with the best relations: its parts are listed and their features added up one by one.
    double score_tree(const features::Sentence& sentence, const Label* heads);

   private:
    void prepare(const features::Sentence& sentence, const ParsingOptions& options);
    void look_up(const features::Sentence& sentence);
    void prune(const features::Sentence& sentence, const CandidateLimits& limits);
    void widen(const CandidateLimits& limits);
    void choose_arcs(const CandidateLimits& limits, bool connected);
    void score_heads(const features::Sentence& sentence);
    // What the model that chooses heads, or the coarse model, adds to the score of an arc, in units of the weights;
    // after score_heads().
    double find_prior(Index head, Index modifier) const;
    // The score of an arc by its own features, with that.
    double add_prior(double score, Index head, Index modifier) const;
    double find_cap() const;
    // Scores those arcs by their own features that were not scored before.
    void score_fine(const Arcs& arcs);
    // The best tree where a coarse model bounds arcs.
    void search_all(const ParsingOptions& options, FoundTree& found);
    void fill_tables();
    void search(const features::Sentence& sentence, const ParsingOptions& options, ParsedTree& out);
    // Whether trees are searched over all arcs from the start.
    bool scores_all(Index words, const CandidateLimits& limits) const;
    // The best tree by scores of all arcs, where nothing else is scored.
    void parse_plain(const features::Sentence& sentence, const TreeKind& kind, ParsedTree& out);
    bool is_whole() const { return arcs_.size() == arcs_.words() * arcs_.words(); }
    void score_all_arcs(Index n, double* scores);  // [n][n + 1]
    // Given the bound over the arcs that are scored: nothing is known of trees with others.
    double find_bound(double bound) const { return is_whole() ? bound : -kNever<double>; }
    void name(const features::Sentence& sentence, ParsedTree& out);
    void choose_relations(const features::Sentence& sentence, ParsedTree& out);

    const ArcModel& model_;
    std::optional<HeadScorer<std::int16_t>> heads_;
    std::optional<ArcCascade::Worker> cascade_;
    std::optional<TreeLabels<std::int16_t>> labels_;
    PartScorer<std::int16_t> parts_;
    Candidates candidates_;
    ArcWords words_;
    Arcs arcs_;
    TreeSearch search_;
    PartTables tables_;
    syntax::Eisner eisner_;
    std::vector<Index> heads_of_tree_;
    std::vector<double> all_scores_;  // [n][n + 1]: of all arcs
    std::vector<double> coarse_;      // [arcs]
    Arcs likely_;                     // of which arcs, but no other parts, are scored from the start
    // Of arcs under a coarse model, [n][n + 1]: the scores of their own features, NaN where they are not known, and
    // their best relations.
    std::vector<double> fine_;
    std::vector<Label> fine_relation_;
    Arcs unscored_;
    std::vector<Label> unscored_heads_, unscored_modifiers_, new_relations_;
    std::vector<double> new_scores_;
    AdmissibleSearch admissible_;
    std::vector<std::pair<Index, Index>> tree_arcs_;
    ArcWords label_words_;
    Places label_places_[2];
  };

  Index columns() const { return plan_.columns(); }
  double step() const { return weights_.step; }
  bool has_prior() const { return coarse_ || (heads_ && heads_->prior > 0 && weights_.step > 0); }

 private:
  const HeadModel* heads_;
  const ArcCascade* cascade_;
  const CoarseModel* coarse_;
  const LabelModel* labels_;
  const ArcPlan& plan_;
  StepTable weights_;
  Relations relations_;
};

}  // namespace certus::scoring

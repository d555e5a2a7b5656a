// A trained dependency parser: candidates, scores, the best tree, its relations. The weights may lie in a model file.
#pragma once

#include "scoring/arcs.hpp"
#include "scoring/head_candidates.hpp"
#include "scoring/tree_search.hpp"

namespace certus::scoring {

// Weights as whole multiples of a step.
struct StepTable {
  const std::int16_t* weights;
  double step;
};

struct ParsingOptions {
  TreeKind kind;
  CandidateLimits limits;
};

struct ParsedTree {
  FoundTree tree;                       // its score and bound are in the units of the model
  std::vector<Label> heads, relations;  // [n]
  Index candidates = 0;                 // how many arcs were scored
};

class ArcModel {
 public:
  ArcModel(const ArcPlan& pruning, StepTable heads, const ArcPlan& plan, StepTable weights, const Relations& relations)
      : pruning_(pruning), heads_(heads), plan_(plan), weights_(weights), relations_(relations) {}

  // What one thread works with.
  class Worker {
   public:
    explicit Worker(const ArcModel& model)
        : model_(model),
          heads_(model.pruning_, model.heads_.weights),
          parts_(model.plan_, model.relations_, model.weights_.weights) {}

    // Throws std::length_error where siblings and grandparents would take too much memory.
    void parse(const features::Sentence& sentence, const ParsingOptions& options, ParsedTree& out);
    void rank(const features::Sentence& sentence, const ParsingOptions& options, Index k, std::vector<ParsedTree>& out);
    // The scores of all arcs with their best relations, [n][n + 1]: scores[m - 1][h], -inf from a word to itself.
    void score_all(const features::Sentence& sentence, double* scores, Label* relations);
    // The score of a tree with the best relations: its parts are listed and their features added up one by one.
    double score_tree(const features::Sentence& sentence, const Label* heads);

   private:
    void prepare(const features::Sentence& sentence, const ParsingOptions& options);
    void fill_tables();
    void search(const ParsingOptions& options, ParsedTree& out);
    void name(ParsedTree& out) const;

    const ArcModel& model_;
    HeadScorer<std::int16_t> heads_;
    PartScorer<std::int16_t> parts_;
    Candidates candidates_;
    ArcWords words_;
    Arcs arcs_;
    TreeSearch search_;
    PartTables tables_;
  };

  Index columns() const { return plan_.columns(); }
  double step() const { return weights_.step; }

 private:
  const ArcPlan& pruning_;
  StepTable heads_;
  const ArcPlan& plan_;
  StepTable weights_;
  Relations relations_;
};

}  // namespace certus::scoring

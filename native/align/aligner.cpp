#include "align/aligner.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace certus::align {
namespace {

constexpr float kUnknownShare = 0.1F;  // of a word never seen among the words with its stem
constexpr float kLeastStem = 1e-4F;    // probability from which a pair of stems is kept

void require(bool holds) {
  if (!holds) throw std::invalid_argument("the arrays of the aligner do not fit together");
}

// The middle of the norms: words never seen are taken for words in between.
float find_median(std::vector<float> values) {
  if (values.empty()) return 1;
  const auto middle = values.begin() + static_cast<Index>(values.size()) / 2;
  std::nth_element(values.begin(), middle, values.end());
  return std::max(*middle, 1e-6F);
}

void keep_stems(const Trainer& trainer, Tables& tables) {
  const StemPairs& pairs = trainer.stem_pairs();
  const std::vector<float>* probability = trainer.knowledge().stem_probability;
  tables.stem_begin.push_back(0);
  for (Index first = 0; first < pairs.sources(); ++first) {
    for (Index k = pairs.begin(first); k < pairs.begin(first + 1); ++k) {
      if (std::max(probability[0][k], probability[1][k]) < kLeastStem) continue;
      tables.stem_target.push_back(pairs.second(k));
      for (int d = 0; d < 2; ++d) tables.stem_probability.push_back(probability[d][k]);
    }
    tables.stem_begin.push_back(static_cast<Index>(tables.stem_target.size()));
  }
}

}  // namespace

Tables export_tables(const Trainer& trainer, double least) {
  const Cooccurrences& pairs = trainer.cooccurrences();
  const Index stride = pairs.size() ? static_cast<Index>(trainer.counts().size()) / pairs.size() : 1;
  const auto limit = static_cast<std::int64_t>(least * Trainer::kUnit);
  Tables tables;
  tables.begin.push_back(0);
  for (Index source = 0; source < pairs.sources(); ++source) {
    for (Index pair = pairs.begin(source); pair < pairs.begin(source + 1); ++pair) {
      const std::int64_t* count = trainer.counts().data() + pair * stride;
      if (std::max(count[0], count[stride - 1]) < limit) continue;
      tables.target.push_back(pairs.target(pair));
      for (int d = 0; d < 2; ++d) tables.lexical.push_back(trainer.state.lexical[2 * pair + d]);
    }
    tables.begin.push_back(static_cast<Index>(tables.target.size()));
  }
  for (int d = 0; d < 2; ++d) {
    tables.norm[d] = trainer.knowledge().norm[d];
    tables.share[d] = trainer.knowledge().share[d];
    tables.nothing[d] = trainer.state.nothing[d];
    tables.fertility[d] = trainer.state.fertility[d];
    tables.jumps[d].assign(trainer.state.jumps[d].begin(), trainer.state.jumps[d].end());
    tables.unknown.push_back(trainer.knowledge().unknown_nothing[d]);
  }
  keep_stems(trainer, tables);
  return tables;
}

Aligner::Aligner(Tables tables, const Priors& priors, const Settings& settings)
    : tables_(std::move(tables)),
      priors_(priors),
      settings_(settings),
      unlikely_(priors.sparse > 0 ? static_cast<float>(exp_digamma(priors.sparse)) : 0) {
  const auto pairs = tables_.target.size();
  require(tables_.begin.size() == tables_.words[0].size() + 1 && tables_.lexical.size() == 2 * pairs);
  require(tables_.stem_probability.size() == 2 * tables_.stem_target.size() && tables_.unknown.size() == 2);
  for (int side = 0; side < 2; ++side) {
    const std::size_t words = tables_.words[side].size();
    require(tables_.norm[1 - side].size() == words && tables_.share[side].size() == words &&
            tables_.nothing[side].size() == words && tables_.fertility[1 - side].size() == words * kFertilities &&
            tables_.jumps[side].size() == kJumps);
    for (std::size_t w = 0; w < words; ++w) {
      ids_[side].emplace(tables_.words[side][w], static_cast<Index>(w));
      letters_[side].push_back(decode_letters(tables_.words[side][w]));
    }
    for (const Letters& word : letters_[side]) {
      const auto next = static_cast<Index>(stem_ids_[side].size());
      stems_[side].push_back(stem_ids_[side].emplace(word.substr(0, kStemLetters), next).first->second);
    }
    std::copy(tables_.jumps[side].begin(), tables_.jumps[side].end(), jumps_[side].begin());
  }
  require(tables_.stem_begin.size() <= stem_ids_[0].size() + 1);
  for (int d = 0; d < 2; ++d) {
    unknown_norm_[d] = find_median(tables_.norm[d]);
    unknown_fertility_[d].assign(kFertilities, 1e-3F);
    const Index words = static_cast<Index>(tables_.words[1 - d].size());
    for (Index w = 0; w < words; ++w)
      for (Index k = 0; k < kFertilities; ++k)
        unknown_fertility_[d][k] += tables_.fertility[d][w * kFertilities + k] / static_cast<float>(words);
  }
}

void Aligner::look_up(int side, const Sentence& sentence, Workspace& workspace) const {
  workspace.ids[side].clear();
  workspace.stems[side].clear();
  workspace.letters[side].clear();
  workspace.unknown[side].clear();
  workspace.unknown[side].reserve(sentence.size());  // so that its words stay where they are
  for (const std::string& word : sentence) {
    if (const auto found = ids_[side].find(word); found != ids_[side].end()) {
      workspace.ids[side].push_back(found->second);
      workspace.letters[side].push_back(&letters_[side][found->second]);
      workspace.stems[side].push_back(stems_[side][found->second]);
      continue;
    }
    const Letters& letters = workspace.unknown[side].emplace_back(decode_letters(word));
    const auto stem = stem_ids_[side].find(letters.substr(0, kStemLetters));
    workspace.ids[side].push_back(-1);
    workspace.letters[side].push_back(&letters);
    workspace.stems[side].push_back(stem == stem_ids_[side].end() ? -1 : stem->second);
  }
}

// The lexical probabilities of source word i and target word j, in both directions.
void Aligner::fill_cell(Index i, Index j, Workspace& workspace) const {
  const Index id[2] = {workspace.ids[0][i], workspace.ids[1][j]};
  const Index at[2] = {i * workspace.pair.length[1] + j, j * workspace.pair.length[0] + i};
  if (id[0] >= 0 && id[1] >= 0) {
    const auto from = tables_.target.begin() + tables_.begin[id[0]],
               to = tables_.target.begin() + tables_.begin[id[0] + 1];
    const auto found = std::lower_bound(from, to, static_cast<Word>(id[1]));
    if (found != to && Index{*found} == id[1]) {
      const Index pair = found - tables_.target.begin();
      for (int d = 0; d < 2; ++d) workspace.pair.word[d][at[d]] = tables_.lexical[2 * pair + d];
      return;
    }
  }
  const double likeness =
      priors_.spelling > 0 ? measure_similarity(*workspace.letters[0][i], *workspace.letters[1][j]) : 0;
  const float* stems = nullptr;
  const Index stem[2] = {workspace.stems[0][i], workspace.stems[1][j]};
  if (stem[0] >= 0 && stem[1] >= 0 && stem[0] + 1 < static_cast<Index>(tables_.stem_begin.size())) {
    const auto from = tables_.stem_target.begin() + tables_.stem_begin[stem[0]],
               to = tables_.stem_target.begin() + tables_.stem_begin[stem[0] + 1];
    const auto found = std::lower_bound(from, to, static_cast<std::uint32_t>(stem[1]));
    if (found != to && Index{*found} == stem[1])
      stems = tables_.stem_probability.data() + 2 * (found - tables_.stem_target.begin());
  }
  for (int d = 0; d < 2; ++d) {
    const float share = id[d] < 0 ? kUnknownShare : tables_.share[d][id[d]];
    const float norm = id[1 - d] < 0 ? unknown_norm_[d] : tables_.norm[d][id[1 - d]];
    const double prior = priors_.sparse + priors_.spelling * likeness + (stems ? priors_.stems * stems[d] * share : 0);
    const float weight = prior > priors_.sparse ? static_cast<float>(exp_digamma(prior)) : unlikely_;
    workspace.pair.word[d][at[d]] = priors_.sparse > 0 ? weight / norm : 1e-9F;
  }
}

void Aligner::read_pair(const Sentence& source, const Sentence& target, Workspace& workspace) const {
  Pair& pair = workspace.pair;
  look_up(0, source, workspace);
  look_up(1, target, workspace);
  for (int side = 0; side < 2; ++side) pair.length[side] = static_cast<Index>(workspace.ids[side].size());
  for (int d = 0; d < 2; ++d) {
    pair.word[d].resize(pair.length[0] * pair.length[1]);
    pair.nothing[d].clear();
    pair.fertility[d].clear();
    for (const Index id : workspace.ids[d])
      pair.nothing[d].push_back(id < 0 ? static_cast<float>(tables_.unknown[d]) : tables_.nothing[d][id]);
    for (const Index id : workspace.ids[1 - d])
      pair.fertility[d].push_back(id < 0 ? unknown_fertility_[d].data()
                                         : tables_.fertility[d].data() + id * kFertilities);
  }
  for (Index i = 0; i < pair.length[0]; ++i)
    for (Index j = 0; j < pair.length[1]; ++j) fill_cell(i, j, workspace);
}

void Aligner::find_posteriors(const Sentence& source, const Sentence& target, Workspace& workspace) const {
  read_pair(source, target, workspace);
  workspace.agreement.run(workspace.pair, settings_, jumps_);
}

}  // namespace certus::align

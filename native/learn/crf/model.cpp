#include "learn/crf/model.hpp"

#include "base/arena.hpp"
#include "base/parallel.hpp"

namespace certus::learn {
namespace {

inline constexpr Index kShare = 8;  // sentences that a thread takes at a time

}  // namespace

CrfModel::CrfModel(CrfLayout layout, Doubles w) : layout_(std::move(layout)), w_(std::move(w)), links_(layout_) {
  links_.set(w_.data() + layout_.transitions());
  const Index L = layout_.labels(), W = layout_.width();
  std::vector<double> transitions(L * L);
  for (Index i = 0; i < L; ++i) std::copy_n(links_.score.data() + i * W, L, transitions.data() + i * L);
  chain_ = std::make_unique<Model<double>>(transitions.data(), L, 1, true, nullptr, nullptr);
}

void CrfModel::score(const CrfInput& input, Index sentence, double* scores) const {
  const Index first = input.sentence_begin[sentence];
  for (Index t = 0; t < input.length(sentence); ++t)
    crf_score(layout_, w_.data(), input, first + t, scores + t * layout_.width());
}

void CrfModel::each(const CrfInput& input, Index threads, const Use& use) const {
  const Index sentences = input.sentences();
  parallel((sentences + kShare - 1) / kShare, threads, [&](Index share, Index) {
    for (Index s = share * kShare; s < std::min(sentences, (share + 1) * kShare); ++s) {
      if (input.length(s) == 0) continue;
      const LocalArena arena;
      double* scores = arena.get<double>(input.length(s) * layout_.width());
      score(input, s, scores);
      use(s, input.length(s), scores);
    }
  });
}

void CrfModel::decode(const CrfInput& input, Index threads, Index* labels) const {
  each(input, threads, [&](Index s, Index T, double* scores) {
    double score = 0;
    run(*chain_, auto_method(), Sentence<double>{scores, T, layout_.width()}, Request{},
        labels + input.sentence_begin[s], &score);
  });
}

void CrfModel::emissions(const CrfInput& input, Index threads, double* out) const {
  const Index L = layout_.labels(), W = layout_.width();
  each(input, threads, [&](Index s, Index T, double* scores) {
    for (Index t = 0; t < T; ++t) std::copy_n(scores + t * W, L, out + (input.sentence_begin[s] + t) * L);
  });
}

double CrfModel::sum(Index T, double* scores) const {
  const LocalArena arena;
  bool ranged = true;
  double* a = arena.get<double>(T * layout_.width());
  double* b = arena.get<double>(T * layout_.width());
  return crf_sum(links_.steps(), T, nullptr, a, b, scores, &ranged);
}

void CrfModel::marginals(const CrfInput& input, Index threads, double* probabilities, double* log_partition) const {
  const Index L = layout_.labels(), W = layout_.width();
  std::fill_n(log_partition, input.sentences(), 0.0);
  each(input, threads, [&](Index s, Index T, double* scores) {
    log_partition[s] = sum(T, scores);
    for (Index t = 0; t < T; ++t) std::copy_n(scores + t * W, L, probabilities + (input.sentence_begin[s] + t) * L);
  });
}

Index CrfModel::best(const CrfInput& input, Index sentence, Index k, Index* labels, double* log_probability) const {
  const Index T = input.length(sentence);
  const LocalArena arena;
  double* scores = arena.get<double>(T * layout_.width());
  score(input, sentence, scores);
  Request request{};
  request.k = k;
  const Result result =
      run(*chain_, auto_method(), Sentence<double>{scores, T, layout_.width()}, request, labels, log_probability);
  const double log_z = sum(T, scores);
  for (Index n = 0; n < result.found; ++n) log_probability[n] -= log_z;
  return result.found;
}

}  // namespace certus::learn

#include "align/directional.hpp"

#include <algorithm>
#include <cmath>

#include "base/vector.hpp"

namespace certus::align {
namespace {

constexpr float kTiny = 1e-30F;

// The loops below are over positions s in [0, I]: 0 is before the first source, s is on source s - 1. The jump from s
// to source i has distance i + 1 - s, the one to behind the last source I + 1 - s.

// arrived[i] = sum over s of from[s] * norm[s] * jump(i + 1 - s)
CERTUS_CLONES void jump_forward(const float* from, const float* norm, const float* jump, Index sources,
                                float* arrived) {
  std::fill_n(arrived, sources, 0.0F);
  for (Index s = 0; s <= sources; ++s) {
    const float weight = from[s] * norm[s];
    if (weight < kTiny) continue;
    const float* row = jump + sources + 1 - s;
    for (Index i = 0; i < sources; ++i) arrived[i] += weight * row[i];
  }
}

// to[s] = norm[s] * sum over i of step[i] * jump(i + 1 - s)
CERTUS_CLONES void jump_backward(const float* step, const float* norm, const float* reversed, Index sources,
                                 float* to) {
  std::fill_n(to, sources + 1, 0.0F);
  for (Index i = 0; i < sources; ++i) {
    if (step[i] < kTiny) continue;
    const float* row = reversed + sources - 1 - i;  // reversed[k] = jump of distance sources - k
    for (Index s = 0; s <= sources; ++s) to[s] += step[i] * row[s];
  }
  for (Index s = 0; s <= sources; ++s) to[s] *= norm[s];
}

CERTUS_CLONES void count_jumps(const float* from, const float* norm, const float* jump, const float* step,
                               Index sources, float* counts) {
  for (Index s = 0; s <= sources; ++s) {
    const float weight = from[s] * norm[s];
    if (weight < 1e-6F) continue;
    const float* row = jump + sources + 1 - s;
    float* count = counts + sources + 1 - s;
    for (Index i = 0; i < sources; ++i) count[i] += weight * row[i] * step[i];
  }
}

}  // namespace

void Directional::prepare(Index generated, Index sources, const Jumps& jumps, float null) {
  const Index width = sources + 1;
  jump_.resize(2 * sources + 2);
  reversed_.resize(2 * sources + 2);
  for (Index distance = -sources; distance <= sources + 1; ++distance)
    jump_[distance + sources] = static_cast<float>(jumps[find_jump(distance)]);
  for (Index k = 0; k < 2 * sources + 1; ++k) reversed_[k] = jump_[2 * sources - k];
  norm_.resize(width);
  for (Index s = 0; s <= sources; ++s) {
    float sum = 0;
    for (Index i = 0; i <= sources; ++i) sum += jump_[i + 1 - s + sources];
    norm_[s] = (1 - null) / sum;
  }
  forward_.assign((generated + 1) * width, 0);
  arrived_.resize(generated * width);
  backward_.resize(2 * width);
  step_.resize(width);
  scale_.resize(generated);
  links.resize(generated * sources);
  nothing.resize(generated);
}

void Directional::run_hmm(const Emissions& emissions, const Jumps& jumps, float null, double times, double* counts) {
  const Index generated = emissions.generated, sources = emissions.sources, width = sources + 1;
  prepare(generated, sources, jumps, null);
  forward_[0] = 1;
  log_likelihood = 0;
  for (Index g = 0; g < generated; ++g) {
    const float* from = forward_.data() + g * width;
    float *to = forward_.data() + (g + 1) * width, *arrived = arrived_.data() + g * width;
    jump_forward(from, norm_.data(), jump_.data(), sources, arrived);
    const float* word = emissions.word + g * sources;
    for (Index i = 0; i < sources; ++i) arrived[i] *= word[i];
    const float stay = null * emissions.nothing[g];
    for (Index s = 0; s <= sources; ++s) to[s] = from[s] * stay;
    for (Index i = 0; i < sources; ++i) to[i + 1] += arrived[i];
    float sum = kTiny;
    for (Index s = 0; s <= sources; ++s) sum += to[s];
    scale_[g] = 1 / sum;
    log_likelihood += std::log(sum);
    for (Index s = 0; s <= sources; ++s) to[s] *= scale_[g];
    for (Index i = 0; i < sources; ++i) arrived[i] *= scale_[g];
  }
  float *after = backward_.data(), *before = backward_.data() + width;  // of the word in hand, and of the one before
  float sum = kTiny;
  for (Index s = 0; s <= sources; ++s) {
    after[s] = norm_[s] / (1 - null) * jump_[2 * sources + 1 - s];
    sum += after[s] * forward_[generated * width + s];
  }
  log_likelihood += std::log(sum);
  for (Index s = 0; s <= sources; ++s) after[s] /= sum;
  if (counts) {
    jump_counts_.assign(2 * sources + 2, 0);
    for (Index s = 0; s <= sources; ++s)
      jump_counts_[2 * sources + 1 - s] += after[s] * forward_[generated * width + s];
  }
  for (Index g = generated; g-- > 0;) {
    const float *word = emissions.word + g * sources, *arrived = arrived_.data() + g * width;
    float linked = 0;
    for (Index i = 0; i < sources; ++i) {
      const float posterior = arrived[i] * after[i + 1];
      links[g * sources + i] = posterior;
      linked += posterior;
      step_[i] = word[i] * after[i + 1] * scale_[g];
    }
    nothing[g] = std::max(0.0F, 1 - linked);
    jump_backward(step_.data(), norm_.data(), reversed_.data(), sources, before);
    const float stay = null * emissions.nothing[g] * scale_[g];
    for (Index s = 0; s <= sources; ++s) before[s] += stay * after[s];
    if (counts)
      count_jumps(forward_.data() + g * width, norm_.data(), jump_.data(), step_.data(), sources, jump_counts_.data());
    std::swap(after, before);
  }
  if (counts)
    for (Index distance = -sources; distance <= sources + 1; ++distance)
      counts[find_jump(distance)] += times * jump_counts_[distance + sources];
}

void Directional::run_flat(const Emissions& emissions, float null, float tension) {
  const Index generated = emissions.generated, sources = emissions.sources;
  links.resize(generated * sources);
  nothing.resize(generated);
  log_likelihood = 0;
  for (Index g = 0; g < generated; ++g) {
    const float place = (static_cast<float>(g) + 0.5F) / static_cast<float>(generated);
    float *row = links.data() + g * sources, prior = 0, sum = 0;
    for (Index i = 0; i < sources; ++i) {
      const float distance = std::abs((static_cast<float>(i) + 0.5F) / static_cast<float>(sources) - place);
      row[i] = tension > 0 ? std::exp(-tension * distance) : 1;
      prior += row[i];
    }
    for (Index i = 0; i < sources; ++i) sum += row[i] *= (1 - null) / prior * emissions.word[g * sources + i];
    nothing[g] = null * emissions.nothing[g];
    sum += nothing[g] + kTiny;
    for (Index i = 0; i < sources; ++i) row[i] /= sum;
    nothing[g] /= sum;
    log_likelihood += std::log(sum);
  }
}

}  // namespace certus::align

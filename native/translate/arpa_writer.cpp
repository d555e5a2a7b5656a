#include <algorithm>
#include <charconv>

#include "translate/arpa.hpp"

namespace certus::translate {
namespace {

void append_log10(std::string& out, float natural) {
  constexpr double kLog10 = 2.302585092994045684;
  char digits[32];
  // Nine digits tell every float from its neighbours.
  const auto [end, _] =
      std::to_chars(digits, digits + sizeof digits, double{natural} / kLog10, std::chars_format::general, 9);
  out.append(digits, end);
}

}  // namespace

std::string ArpaWriter::write(Index first, Index last) const {
  const Index length = automaton_.measure_context(static_cast<State>(first));
  std::string out, context;
  std::vector<Word> words(length);
  for (Index s = first; s < last; ++s) {
    State at = static_cast<State>(s);
    for (Index i = length - 1; i >= 0; --i, at = origins_.state[at]) words[i] = origins_.word[at];
    context.clear();
    for (const Word word : words) context.append(vocabulary_.spell(word)) += ' ';
    for (Index arc = automaton_.begin[s]; arc < Index{automaton_.begin[s + 1]}; ++arc) {
      append_log10(out, automaton_.score[arc]);
      (out += '\t').append(context).append(vocabulary_.spell(automaton_.word[arc]));
      const State next = automaton_.next[arc];
      if (length + 1 < automaton_.order && Index{next} >= automaton_.ends[length]) {  // a state of its own
        out += '\t';
        append_log10(out, automaton_.backoff[next]);
      }
      out += '\n';
    }
  }
  return out;
}

}  // namespace certus::translate

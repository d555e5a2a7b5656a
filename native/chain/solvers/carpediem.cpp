// CarpeDiem: Esposito and Radicioni 2009, "CarpeDiem: Optimizing the Viterbi Algorithm and Applications to
// Supervised Sequential Learning", JMLR 10.
//
// The vertices of a layer are taken by decreasing vertical weight and opened (their best prefix found) while the
// best prefix of the layer before, plus the largest horizontal weight, plus their own weight, exceeds the best
// open vertex of the layer. Opening a vertex looks at the open vertices of the layer before, then opens closed
// ones, backwards, for as long as they might win.
//
// Departures from the paper, none of which changes the answer:
//   - The paper bounds every horizontal weight by the largest one of all. Here it is bounded by the largest one
//     into the label, which is moved from the edges into the vertex: y weighs node(t, y) + incoming[y], an edge
//     weighs transition(i, j) - incoming[j] <= 0, and the largest horizontal weight is 0. Where emissions are
//     peaked this opens several times fewer vertices. Bounds alone are computed that way: scores are sums of nodes and
//     transitions as they are, so that large weights into a label cannot cancel small ones.
//   - A layer is sorted as far as it is read: the first few vertices, then four times as many, and so on.
//   - Open vertices are kept by decreasing score, so that the search for a predecessor stops at the first that
//     cannot win.
//   - A stack of our own instead of recursion: the backward openings can go as deep as the sentence is long.
#include "chain/method.hpp"

namespace certus {
namespace {

template <class Tr>
class CarpeDiem {
 public:
  using S = typename Tr::Score;

  CarpeDiem(const Trellis<Tr>& trellis, Counters& counters, Arena& arena)
      : trellis_(trellis), counters_(counters), arena_(arena) {}

  // Tells whether there is a path.
  bool run(Index* labels) {
    for (Index t = 0; t < trellis_.length; ++t) {
      while (promising(t, best(t))) open(t);
      if (layers_[t].opened == 0) return false;
    }
    trace(labels);
    return true;
  }

 private:
  struct Closed {
    double weight;  // vertical
    Label label;
  };
  struct Open {
    double score;  // of the best prefix that ends here
    Label label;
    Label from;  // the label before
  };
  struct Layer {
    Open* open = nullptr;  // [opened], by decreasing score
    Index opened = 0, room = 0;
    Closed* closed = nullptr;  // [ready]: a batch by decreasing weight, of which [next, ready) are still closed
    Index next = 0, ready = 0;
    Index batch = 0;  // its intended size
    Closed last{};    // its last vertex
  };
  struct Opening {  // a vertex whose best predecessor is being looked for
    Closed vertex;
    double arrival;  // the best found so far: a prefix and the edge from it, as they are scored
    Label from;
  };

  static bool before(const Closed& a, const Closed& b) {
    return a.weight != b.weight ? a.weight > b.weight : a.label < b.label;
  }

  double best(Index t) const {
    if (t < 0) return 0;
    return layers_[t].opened ? layers_[t].open[0].score : kNever<double>;
  }

  // Whether the most promising closed vertex of layer t may have a prefix that is above `score` with `more`.
  bool promising(Index t, double score, double more = 0) {
    Layer& layer = layers_[t];
    if (layer.next == layer.ready && !refill(t)) return false;
    return best(t - 1) + layer.closed[layer.next].weight + more > score;
  }

  // Sorts out the next vertices of layer t, four times as many as the last time; false when none is left.
  bool refill(Index t) {
    Layer& layer = layers_[t];
    const Index L = trellis_.labels;
    const bool first = layer.batch == 0;
    if (!first && layer.ready < layer.batch) return false;
    layer.batch = std::min(L, first ? kBatch : 4 * layer.batch);
    layer.closed = arena_.template get<Closed>(layer.batch);
    layer.next = layer.ready = 0;
    heed_(4 * L);
    const S* node = trellis_.node(t);
    Closed* heap = layer.closed;  // the worst on top
    double least = kNever<double>;
    for (Index y = 0; y < L; ++y) {
      const double weight = static_cast<double>(node[y]) + (t ? incoming_[y] : 0.0);
      if (!(weight > least)) continue;
      const Closed c{weight, static_cast<Label>(y)};
      if (!first && !before(layer.last, c)) continue;
      if (layer.ready == layer.batch) std::pop_heap(heap, heap + layer.ready--, before);
      heap[layer.ready++] = c;
      std::push_heap(heap, heap + layer.ready, before);
      if (layer.ready == layer.batch) least = heap[0].weight;
    }
    std::sort_heap(heap, heap + layer.ready, before);
    if (layer.ready) layer.last = heap[layer.ready - 1];
    return layer.ready > 0;
  }

  // Opens the most promising closed vertex of layer t, and those before it that it takes to do so.
  void open(Index t) {
    const Index outer = t;
    begin(t);
    for (;;) {
      Opening& o = stack_[t];
      if (t > 0 && promising(t - 1, o.arrival, incoming_[o.vertex.label])) {
        begin(--t);
        continue;
      }
      const double node = static_cast<double>(trellis_.node(t)[o.vertex.label]);
      const Open done{o.arrival + node, o.vertex.label, o.from};
      if (done.score != kNever<double>) insert(layers_[t], done);
      if (t == outer) return;
      consider(++t, done);
    }
  }

  // Takes that vertex and looks at the open vertices before it.
  void begin(Index t) {
    Layer& layer = layers_[t];
    ++counters_.expanded;
    stack_[t] = {layer.closed[layer.next++], t ? kNever<double> : 0.0, -1};
    if (t == 0) return;
    const Layer& previous = layers_[t - 1];
    Index n = 0;
    const double most = incoming_[stack_[t].vertex.label];
    while (n < previous.opened && previous.open[n].score + most > stack_[t].arrival) consider(t, previous.open[n++]);
    heed_(4 * n);
  }

  // Offers a vertex of layer t - 1 as the predecessor of the one being opened in layer t.
  void consider(Index t, const Open& p) {
    Opening& o = stack_[t];
    ++counters_.edges;
    const Label j = o.vertex.label;
    const double x = p.score + static_cast<double>(trellis_.at(t - 1, p.label, j));
    if (x > o.arrival) o.arrival = x, o.from = p.label;
  }

  void insert(Layer& layer, const Open& v) {
    if (layer.opened == layer.room) {
      layer.room = layer.room ? 4 * layer.room : kBatch;
      Open* more = arena_.template get<Open>(layer.room);
      std::copy_n(layer.open, layer.opened, more);
      layer.open = more;
    }
    Open* end = layer.open + layer.opened++;
    const auto higher = [](const Open& a, const Open& b) { return a.score > b.score; };
    Open* place = std::upper_bound(layer.open, end, v, higher);
    std::move_backward(place, end, end + 1);
    *place = v;
  }

  void trace(Index* labels) const {
    const Open* v = layers_[trellis_.length - 1].open;
    for (Index t = trellis_.length - 1;; --t) {
      labels[t] = v->label;
      if (t == 0) return;
      const Label from = v->from;
      for (v = layers_[t - 1].open; v->label != from;) ++v;
    }
  }

  static constexpr Index kBatch = 8;

  const Trellis<Tr>& trellis_;
  Counters& counters_;
  Arena& arena_;
  const double* incoming_ = trellis_.model->bounds().incoming.data();  // [L]
  Layer* layers_ = arena_.get<Layer>(trellis_.length, Layer{});
  Heed heed_;
  Opening* stack_ = arena_.get<Opening>(trellis_.length);  // at most one vertex of a layer is being opened
};

}  // namespace

CERTUS_SOLVER(carpediem) {
  static_cast<void>(request);
  answer.counters.iterations = 1;
  if (CarpeDiem<Tr>(trellis, answer.counters, arena).run(answer.labels)) answer.found = 1;
  answer.counters.activated = answer.counters.expanded;
}

CERTUS_REGISTER_MATRICES(carpediem, "carpediem")

}  // namespace certus

#include "libcore/runtime/collectives.h"

#include <algorithm>

namespace voxshard {
namespace {

constexpr std::int64_t kChunk = 1024;  // elements of a buffer on the stack while a tree is added

/// `out` = the sum of elements [begin, begin + count) of the partials of `node`, along the tree. T: f32 for f32, else
/// f64.
template <class T>
void tree_sum(const std::vector<TensorView>& partials, std::int64_t begin, std::int64_t count,
              const SumTree::Node& node, T* out) {
  if (node.end - node.begin == 1) {
    const TensorView& leaf = partials[node.begin];
    if constexpr (std::is_same_v<T, float>)
      std::copy_n(leaf.as<float>() + begin, count, out);
    else
      for (std::int64_t i = 0; i < count; ++i) out[i] = load(leaf, begin + i);
    return;
  }
  const auto [left, right] = node.halves();
  tree_sum(partials, begin, count, left, out);
  T other[kChunk];
  tree_sum(partials, begin, count, right, other);
  for (std::int64_t i = 0; i < count; ++i) out[i] += other[i];
}

/// One sum of a join: the partial results of this rank (those of other ranks are empty views) and the destination of
/// the total.
class Join {
 public:
  Join(const Together& t, std::size_t index, const Sum& sum)
      : t_(t), index_(index), tree_(sum, t.cores.ranks(), t.cores.count()), count_(sum.box.count()) {
    const Cores& cores = t.cores;
    for (const BlockId& addend : sum.addends)
      partials_.push_back(cores.hosts(static_cast<std::int64_t>(addend.core))
                              ? cores.call(index - 1, addend.core, addend.block).output
                              : TensorView());
    const ValueId value = cores.program().instructions[index].value;
    type_ = cores.program().graph.node(value).type.dtype;
    if (cores.program().replicated(value)) {
      results_.push_back(cores.held(value, 0).sub(sum.box));
      return;
    }
    for (std::int64_t core = cores.first(); core < cores.end(); ++core) {
      const TensorView view = cores.held(value, static_cast<std::size_t>(core));
      if (view.box.contains(sum.box)) results_.push_back(view.sub(sum.box));
    }
  }

  void run() {
    if (t_.cores.ranks().ranks > 1) return type_ == DType::kF32 ? across<float>() : across<double>();
    in_tasks(0, count_, [&](std::int64_t begin, std::int64_t end) {
      type_ == DType::kF32 ? local<float>(begin, end) : local<double>(begin, end);
    });
  }

 private:
  void in_tasks(std::int64_t first, std::int64_t last,
                const std::function<void(std::int64_t begin, std::int64_t end)>& body) {
    t_.pool.run(ceil_div(last - first, kElementsPerSumTask), [&](std::int64_t task, int worker) {
      const std::int64_t begin = first + task * kElementsPerSumTask, end = std::min(last, begin + kElementsPerSumTask);
      const std::int64_t bytes = (end - begin) * dtype_bytes(type_) * static_cast<std::int64_t>(partials_.size());
      const TraceSpan span(t_.trace, worker, TraceKind::kJoin, index_, -1, bytes);
      body(begin, end);
    });
  }

  template <class T>
  void put(std::int64_t at, std::int64_t count, const T* total) {
    for (const TensorView& result : results_) {
      if (!result.is_dense()) {  // some channels of a result: rows with a constant stride
        const std::int64_t row = result.extent().back(), step = result.strides[result.axes() - 2];
        for (std::int64_t i = 0; i < count; ++i)
          store(result, (at + i) / row * step + (at + i) % row, static_cast<double>(total[i]));
        continue;
      }
      if constexpr (std::is_same_v<T, float>)
        std::copy_n(total, count, result.as<float>() + at);
      else
        for (std::int64_t i = 0; i < count; ++i) store(result, at + i, total[i]);
    }
  }

  template <class T>
  void local(std::int64_t begin, std::int64_t end) {
    for (std::int64_t at = begin; at < end; at += kChunk) {
      const std::int64_t n = std::min(kChunk, end - at);
      T total[kChunk];
      tree_sum(partials_, at, n, tree_.root(), total);
      put(at, n, total);
    }
  }

  /// Returns the elements of a view from `begin` on when they are stored densely as `T`; null otherwise.
  template <class T>
  static std::byte* elements_of(const TensorView& view, std::int64_t begin) {
    const bool plain = view.dtype == (std::is_same_v<T, float> ? DType::kF32 : DType::kF64) && view.is_dense();
    return plain ? view.data + begin * static_cast<std::int64_t>(sizeof(T)) : nullptr;
  }

  template <class T>
  void across() {
    std::byte* const result = results_.size() == 1 ? elements_of<T>(results_.front(), 0) : nullptr;
    const std::byte* total = t_.transport.all_reduce(
        {.tree = tree_,
         .instruction = index_,
         .element_bytes = sizeof(T),
         .elements = count_,
         .subtotal =
             [&](const SumTree::Node& node, std::int64_t first, std::int64_t last, std::byte* out) {
               in_tasks(first, last, [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t at = begin; at < end; at += kChunk)
                   tree_sum(partials_, at, std::min(kChunk, end - at), node, reinterpret_cast<T*>(out) + (at - first));
               });
             },
         .in_place = [&](const SumTree::Node& node, std::int64_t begin) -> const std::byte* {
           return node.end - node.begin == 1 ? elements_of<T>(partials_[node.begin], begin) : nullptr;
         },
         .add =
             [&](std::byte* a, const std::byte* b, std::int64_t elements) {
               in_tasks(0, elements, [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t i = begin; i < end; ++i)
                   reinterpret_cast<T*>(a)[i] += reinterpret_cast<const T*>(b)[i];
               });
             },
         .outgoing = t_.cores.outgoing(),
         .incoming = t_.cores.incoming(),
         .total = {result, result != nullptr ? static_cast<std::size_t>(count_) * sizeof(T) : 0},
         .record_wait =
             [&](const std::function<void()>& wait) {
               const TraceSpan span(t_.trace, 0, TraceKind::kWait, index_, -1, 0);
               wait();
             }});
    if (result == nullptr) put(0, count_, reinterpret_cast<const T*>(total));
  }

  const Together& t_;
  std::size_t index_;
  SumTree tree_;
  std::int64_t count_;
  DType type_ = DType::kF32;
  std::vector<TensorView> partials_, results_;
};

/// Handles a sum with one partial result: it is already in place on the rank of its core, and the other ranks get a
/// copy.
void share(const Together& t, std::size_t index, const Sum& sum) {
  const Cores& cores = t.cores;
  const ValueId value = cores.program().instructions[index].value;
  const DType type = cores.program().graph.node(value).type.dtype;
  const Ranks& ranks = cores.ranks();
  const auto core = static_cast<std::int64_t>(sum.addends.front().core);
  const auto message = cores.incoming().first(static_cast<std::size_t>(sum.box.count() * dtype_bytes(type)));
  const TensorView dense = dense_view(message.data(), type, sum.box);
  if (cores.hosts(core)) {
    copy(cores.held(value, static_cast<std::size_t>(core)).sub(sum.box), dense);
    for (int to = 0; to < ranks.ranks; ++to)
      if (to != ranks.rank) t.transport.send(to, message_tag(index), message);
    return;
  }
  for (int from = 0; from < ranks.ranks; ++from)
    if (Ranks{from, ranks.ranks}.hosts(core, cores.count())) t.transport.receive(from, message_tag(index), message);
  const std::int64_t views = cores.program().replicated(value) ? 1 : cores.end() - cores.first();
  for (std::int64_t c = 0; c < views; ++c)
    if (const TensorView view = cores.held(value, static_cast<std::size_t>(cores.first() + c));
        view.box.contains(sum.box))
      copy(dense, view.sub(sum.box));
}

}  // namespace

void run_join(const Together& t, std::size_t index) {
  const bool adds = needs_join(t.cores.program().instructions[index - 1]);
  for (const Sum& sum : t.cores.executable().schedule.sums[index]) {
    if (adds)
      Join(t, index, sum).run();
    else if (t.cores.ranks().ranks > 1)
      share(t, index, sum);
  }
}

}  // namespace voxshard

#include "pipelines/engine/core_messages.h"

#include <algorithm>

namespace voxshard {
namespace {

constexpr int kSampleTag = kMessageTags + 16, kFoundTag = kSampleTag + 1;  // above the tags of libcore/runtime

/// The most bytes that a core may pack: 64 (a detected box) for each element that it holds, which has at least 2 bytes,
/// and 2^28 for numbers per class and sample.
std::int64_t most_packed_bytes(const Footprint& bytes, std::int64_t core) {
  constexpr std::int64_t kOfAByte = 32, kOfClasses = std::int64_t{1} << 28;
  return kOfClasses + kOfAByte * bytes.core(static_cast<std::size_t>(core));
}

/// Messages to other ranks. Messages still under way when an error destroys the object are dropped.
class Sending {
 public:
  explicit Sending(Transport& transport) : transport_(transport) {}
  ~Sending() {
    for (std::size_t i = through_; i < sent_.size(); ++i) transport_.drop(sent_[i]);
  }
  Sending(const Sending&) = delete;
  Sending& operator=(const Sending&) = delete;
  void start(int to, std::span<const std::byte> bytes) {
    sent_.push_back(transport_.start_send(to, kSampleTag, bytes));
  }
  void finish() {
    for (; through_ < sent_.size(); ++through_) transport_.wait(sent_[through_]);
  }

 private:
  Transport& transport_;
  std::vector<MessageId> sent_;
  std::size_t through_ = 0;
};

struct OwnBox {
  std::size_t core = 0;  // for a replicated value, the first core of its rank
  Box box;
};

/// Returns the boxes of a value that a rank holds, without empty ones.
std::vector<OwnBox> boxes_of(const Program& program, ValueId id, int rank, int ranks) {
  const std::int64_t cores = program.mesh().cores();
  const Ranks place{rank, ranks};
  const auto first = static_cast<std::size_t>(place.first(cores)), end = static_cast<std::size_t>(place.end(cores));
  const std::vector<Box>& own = program.plan(id).own;
  if (first == end) return {};
  if (program.replicated(id)) return {{first, own.front()}};
  std::vector<OwnBox> boxes;
  for (std::size_t core = first; core < end; ++core)
    if (!own[core].empty()) boxes.push_back({core, own[core]});
  return boxes;
}

std::span<std::byte> bytes_of(const Tensor& tensor) {
  return {tensor.data(), static_cast<std::size_t>(tensor.bytes())};
}

/// Fills and sends boxes piece by piece, as many pieces at a time as there are workers.
void send_boxes(Session& session, const std::vector<OwnBox>& boxes, DType dtype, int to, const FillBox& fill) {
  std::vector<Box> pieces;
  for (const OwnBox& own : boxes)
    for (const Box& piece : pieces_of(own.box, dtype_bytes(dtype))) pieces.push_back(piece);
  const auto at_once = static_cast<std::size_t>(session.pool().workers());
  for (std::size_t begin = 0; begin < pieces.size(); begin += at_once) {
    std::vector<Tensor> filled(std::min(at_once, pieces.size() - begin));
    session.pool().run(std::ssize(filled), [&](std::int64_t i, int) {
      const auto at = static_cast<std::size_t>(i);
      const Box& piece = pieces[begin + at];
      filled[at] = Tensor(dtype, piece.extent);
      fill(dense_view(filled[at].data(), dtype, piece));
    });
    Sending sending(session.transport());
    for (const Tensor& piece : filled) sending.start(to, bytes_of(piece));
    sending.finish();
  }
}

void add_pieces(const Box& box, int axis, std::int64_t element_bytes, std::int64_t most_bytes,
                std::vector<Box>& pieces) {
  const std::int64_t extent = box.extent[axis], bytes = box.count() * element_bytes;
  if (bytes <= most_bytes || axis + 1 == box.axes()) {
    pieces.push_back(box);
    return;
  }
  const std::int64_t at_once = std::max<std::int64_t>(1, most_bytes / (bytes / extent));
  for (std::int64_t begin = box.begin[axis]; begin < box.end(axis); begin += at_once) {
    Box part = box;
    part.set(axis, begin, std::min(begin + at_once, box.end(axis)));
    add_pieces(part, axis + 1, element_bytes, most_bytes, pieces);
  }
}

}  // namespace

std::vector<Box> pieces_of(const Box& box, std::int64_t element_bytes, std::int64_t most_bytes) {
  std::vector<Box> pieces;
  if (!box.empty()) add_pieces(box, 0, element_bytes, most_bytes, pieces);
  return pieces;
}

Interval samples_of(const Program& program, const Ranks& place) {
  const std::int64_t cores = program.mesh().cores();
  std::optional<Interval> samples;
  for (ValueId id = 0; id < program.graph.size(); ++id) {
    const Node& node = program.graph.node(id);
    if (node.role != Role::kInput || std::holds_alternative<input::Labels>(node.input) ||
        std::holds_alternative<input::Known>(node.input) || std::holds_alternative<input::Draw>(node.input))
      continue;
    const std::vector<Box>& own = program.values[id].own;
    for (std::int64_t core = place.first(cores); core < place.end(cores); ++core) {
      const Box& box = own[program.replicated(id) ? 0 : static_cast<std::size_t>(core)];
      if (box.empty()) continue;
      if (!samples) samples = {box.begin[0], box.end(0)};
      samples = {std::min(samples->first, box.begin[0]), std::max(samples->second, box.end(0))};
    }
  }
  return samples.value_or(Interval{0, 0});
}

void feed_from_first(Session& session, CoreSet& cores, ValueId id, const FillBox& fill) {
  Transport& transport = session.transport();
  const Program& program = cores.executable().program;
  const DType dtype = program.graph.node(id).type.dtype;
  if (transport.rank() == 0) {
    cores.feed(id, fill);
    for (int to = 1; to < transport.ranks(); ++to)
      send_boxes(session, boxes_of(program, id, to, transport.ranks()), dtype, to, fill);
    return;
  }
  cores.feed(id, [](const TensorView&) {});  // marks the input as fed; its content is received below
  for (const OwnBox& own : boxes_of(program, id, transport.rank(), transport.ranks())) {
    const TensorView view = cores.owned(id, own.core);
    for (const Box& piece : pieces_of(own.box, dtype_bytes(dtype))) {
      const Tensor arrived(dtype, piece.extent);
      transport.receive(0, kSampleTag, bytes_of(arrived));
      copy(dense_view(arrived.data(), dtype, piece), view.sub(piece));
    }
    cores.rest(own.core);
  }
}

std::int64_t gather_from_cores(Session& session, const CoreSet& cores, const PackCore& pack, const TakeCore& take,
                               const LookAtCore& look) {
  Transport& transport = session.transport();
  const std::int64_t all = cores.executable().program.mesh().cores();
  const Ranks place = transport.place();
  const auto first = static_cast<std::size_t>(place.first(all));
  const auto hosted = static_cast<std::size_t>(place.end(all)) - first;
  const auto workers = static_cast<std::size_t>(session.pool().workers());
  const std::size_t at_once =
      cores.executable().bytes.takes_turns() ? std::min(hosted, workers) : hosted;  // that hold what they packed
  std::int64_t most = 0;
  for (std::size_t begin = 0; begin < hosted; begin += at_once) {
    std::vector<std::vector<std::byte>> packed(std::min(at_once, hosted - begin));
    session.pool().run(std::ssize(packed), [&](std::int64_t i, int) {
      std::vector<std::byte>& own = packed[i];
      const std::size_t core = first + begin + static_cast<std::size_t>(i);
      if (transport.rank() == 0 && look) {
        look(core);
      } else {
        own = pack(core);
        if (transport.rank() == 0) take(core, own), own = {};
      }
      cores.rest(core);
    });
    std::int64_t bytes = 0;
    for (const std::vector<std::byte>& own : packed) {
      const std::int64_t size = std::ssize(own);
      bytes += size;
      if (transport.rank() == 0) continue;  // took it already
      transport.send(0, kFoundTag, std::as_bytes(std::span(&size, 1)));
      if (size > 0) transport.send(0, kFoundTag, own);
    }
    most = std::max(most, bytes);
  }
  for (int from = 1; transport.rank() == 0 && from < transport.ranks(); ++from)
    for (std::int64_t core = place.first_of(from, all); core < place.first_of(from + 1, all); ++core) {
      std::int64_t size = 0;
      transport.receive(from, kFoundTag, std::as_writable_bytes(std::span(&size, 1)));
      if (const std::int64_t limit = most_packed_bytes(cores.executable().bytes, core); size < 0 || size > limit)
        throw Error(ErrorKind::kInternal, "[ranks] " + transport.name(from) + " sends " + std::to_string(size) +
                                              " bytes that core " + std::to_string(core) + " found, of at most " +
                                              std::to_string(limit) + "; nothing was allocated for them");
      std::vector<std::byte> arrived(static_cast<std::size_t>(size));
      if (size > 0) transport.receive(from, kFoundTag, arrived);
      take(static_cast<std::size_t>(core), arrived);
    }
  return most;
}

}  // namespace voxshard

#include "libcore/runtime/memory_watch.h"

#include <algorithm>

namespace voxshard {

MemoryWatch::MemoryWatch(const Program& program, const MemoryPlan& plan, std::span<const Arena> arenas,
                         std::int64_t first_core, const Arena& process)
    : program_(program), pools_(arenas.size() + 1), first_core_(first_core), written_(pools_, 0) {
  for (std::size_t p = 0; p < pools_; ++p) {
    const bool shared = p == arenas.size();
    arenas_.push_back(shared ? &process : &arenas[p]);
    for (const Buffer& buffer :
         (shared ? plan.process : plan.arenas[static_cast<std::size_t>(first_core) + p]).buffers) {
      const Node& node = program.graph.node(buffer.value);
      const std::int64_t bytes =
          buffer.partial == kPackedWeights ? buffer.bytes : buffer.box.count() * dtype_bytes(node.type.dtype);
      all_.push_back({.arena = arenas_.back(),
                      .buffer = &buffer,
                      .pool = p,
                      .bytes = bytes,
                      .behind = buffer.bytes + plan.guard_bytes - bytes,
                      .input = node.role == Role::kInput});
    }
  }
}

std::string MemoryWatch::name(const Buffer& buffer) const {
  return program_.graph.node(buffer.value).name + buffer_kind(buffer);
}

void MemoryWatch::fault(std::size_t instruction, std::string what) {
  faults_.push_back({instruction, program_.instructions[instruction].value, std::move(what)});
}

void MemoryWatch::feeding(ValueId input) {
  fed_.insert(input);
  for (const Watched& w : all_)
    if (w.buffer->value == input) w.arena->revive(w.buffer->offset, w.bytes);
}

void MemoryWatch::begin_step() {
  alive_.clear();
  for (std::size_t p = 0; p < pools_; ++p) {
    std::vector<const Watched*> fed;
    for (const Watched& w : all_)
      if (w.pool == p && w.input && fed_.contains(w.buffer->value)) fed.push_back(&w);
    std::sort(fed.begin(), fed.end(),
              [](const Watched* a, const Watched* b) { return a->buffer->offset < b->buffer->offset; });
    std::int64_t at = 0;
    for (const Watched* w : fed) {
      if (w->buffer->offset > at) arenas_[p]->poison(at, w->buffer->offset - at);
      at = std::max(at, w->buffer->offset + w->bytes);
    }
    arenas_[p]->poison(at, arenas_[p]->bytes() - at);
  }
  for (const Watched& w : all_)
    if (w.input) alive_.push_back(w);
  fed_.clear();
}

void MemoryWatch::note_written(const Watched& w) {
  if (const auto last = w.arena->last_written(w.buffer->offset, w.bytes))
    written_[w.pool] = std::max(written_[w.pool], *last + 1);
}

void MemoryWatch::begin(std::size_t index) {
  if (index == 0) begin_step();
  const int now = static_cast<int>(index);
  std::erase_if(alive_, [&](const Watched& w) {
    if (w.buffer->last >= now) return false;
    note_written(w);
    w.arena->poison(w.buffer->offset, w.bytes);
    return true;
  });
  for (const Watched& w : all_) {
    if (w.input || w.buffer->first != now) continue;
    if (const auto at = w.arena->first_written(w.buffer->offset, w.bytes))
      fault(index, "the memory of " + name(*w.buffer) + " was written at +" + std::to_string(*at - w.buffer->offset) +
                       " before it began");
    w.arena->revive(w.buffer->offset, w.bytes);
    alive_.push_back(w);
  }
}

void MemoryWatch::end(std::size_t index) {
  for (const Watched& w : alive_) {
    const std::int64_t begin = w.buffer->offset + w.bytes;
    if (!w.arena->first_written(begin, w.behind)) continue;
    fault(index, "writes behind the buffer of " + name(*w.buffer));
    w.arena->poison(begin, w.behind);
  }
  if (index + 1 == program_.instructions.size()) end_step(index);
}

void MemoryWatch::end_step(std::size_t last) {
  for (std::size_t p = 0; p < pools_; ++p) {
    std::vector<std::pair<std::int64_t, std::int64_t>> data;
    for (const Watched& w : alive_) {
      if (w.pool != p) continue;
      note_written(w);
      data.emplace_back(w.buffer->offset, w.buffer->offset + w.bytes);
    }
    std::sort(data.begin(), data.end());
    data.emplace_back(arenas_[p]->bytes(), arenas_[p]->bytes());
    std::int64_t at = 0;
    for (const auto& [begin, end] : data) {
      if (begin > at)
        if (const auto found = arenas_[p]->first_written(at, begin - at))
          fault(last, (p + 1 == pools_ ? std::string("the process pool")
                                       : "arena " + std::to_string(first_core_ + static_cast<std::int64_t>(p))) +
                          " was written at +" + std::to_string(*found) + " where nothing lived");
      at = std::max(at, end);
    }
  }
}

std::int64_t MemoryWatch::written_bytes(std::size_t core) const {
  return written_[core - static_cast<std::size_t>(first_core_)];
}

}  // namespace voxshard

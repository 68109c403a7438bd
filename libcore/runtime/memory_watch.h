// Watches the arenas of a core set while a step runs instruction by instruction. Memory without a live buffer is
// poison: from the start of the step, and again after a buffer's last reader. Gaps between buffers are poison too.
//
//   MemoryWatch watch(program, plan, arenas, first_core, process);
//   watch.begin(0);  ...run instruction 0...  watch.end(0);
//   watch.faults()      // {"encoder0/conv0", 17, "writes behind the buffer of ..."}
//
// A read after the life of a buffer gives NaN. The check does not trust the memory plan; it inspects bytes.
#pragma once

#include <set>
#include <span>
#include <string>
#include <vector>

#include "libcore/memory/plan.h"
#include "libcore/runtime/arena.h"

namespace voxshard {

/// Memory that was written although no instruction was allowed to.
struct MemoryFault {
  std::size_t instruction = 0;  // the one that ran, or the one whose result begins there
  ValueId value = kNoValue;     // the value that it computes
  std::string what;
};

class MemoryWatch {
 public:
  /// `arenas`: checked arenas of the cores from `first_core` on. `process`: the pool of replicated results.
  MemoryWatch(const Program& program, const MemoryPlan& plan, std::span<const Arena> arenas, std::int64_t first_core,
              const Arena& process);

  /// Call it before an input is fed. An input that is not fed again is poison in the next step.
  void feeding(ValueId input);
  /// Call them before and after instruction `index`, from 0 up. Before the first instruction of a step everything
  /// except fed inputs becomes poison; after the last one all memory that is not alive is inspected.
  void begin(std::size_t index);
  void end(std::size_t index);

  const std::vector<MemoryFault>& faults() const { return faults_; }
  /// Bytes of a core's arena up to the last one that was seen written.
  std::int64_t written_bytes(std::size_t core) const;

 private:
  struct Watched {
    const Arena* arena;
    const Buffer* buffer;
    std::size_t pool;         // index of watched pools, the process last
    std::int64_t bytes = 0;   // of data
    std::int64_t behind = 0;  // bytes between the data and the next buffer that may touch them
    bool input = false;
  };
  void begin_step();
  void end_step(std::size_t last);
  void note_written(const Watched& w);
  void fault(std::size_t instruction, std::string what);
  std::string name(const Buffer& buffer) const;

  const Program& program_;
  std::size_t pools_;
  std::int64_t first_core_;
  std::vector<Watched> all_, alive_;
  std::set<ValueId> fed_;              // since the last step
  std::vector<std::int64_t> written_;  // per pool
  std::vector<const Arena*> arenas_;   // per pool
  std::vector<MemoryFault> faults_;
};

}  // namespace voxshard

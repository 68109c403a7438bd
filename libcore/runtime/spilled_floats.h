// Numbers that may be larger than memory: they lie there, or in a file, of which each thread has a piece at a time in
// memory.
//
//   SpilledFloats sums;
//   sums.make({600, 512, 512, 8}, file);             // zeros; without a file: in memory
//   SpilledFloats::Visit visit(sums);                // of one thread
//   visit.at(4096, 8)[3] += 0.5F;                    // a pointer for these 8 numbers, until the next one
#pragma once

#include <memory>

#include "libcore/runtime/arena.h"
#include "libcore/tensor/tensor.h"

namespace voxshard {

class SpilledFloats {
 public:
  /// Makes zeros, in place of the numbers before.
  ///   file  the descriptor of a file of zeros, of bytes_of() bytes, which may be closed then; -1: they lie in memory
  /// Errors: kBudget when the system refuses.
  void make(const Shape& shape, int file = -1);
  static std::int64_t bytes_of(const Shape& shape) { return element_count(shape) * dtype_bytes(DType::kF32); }
  bool empty() const { return data_ == nullptr; }
  const Shape& shape() const { return shape_; }
  /// The most bytes of them that are in memory while so many threads visit them.
  std::int64_t resident_bytes(int threads) const;
  /// The same of numbers in a file, whatever their number.
  static std::int64_t window_bytes(int threads);

  /// The numbers as one thread sees them. What it has visited leaves memory from time to time, and at the end.
  class Visit {
   public:
    explicit Visit(const SpilledFloats& all) : all_(all) {}
    ~Visit() { all_.evict(); }
    Visit(const Visit&) = delete;
    Visit& operator=(const Visit&) = delete;
    /// Returns a pointer to `count` numbers from `first` on, which may be written too.
    float* at(std::int64_t first, std::int64_t count) {
      if (all_.file_ != nullptr) come_to(first, count);
      return all_.data_ + first;
    }

   private:
    void come_to(std::int64_t first, std::int64_t count);
    const SpilledFloats& all_;
    std::int64_t unit_ = -1;  // that was visited last
    std::int64_t units_ = 0;  // visited since some left memory
  };

 private:
  void evict() const {
    if (file_ != nullptr) file_->evict();
  }
  Shape shape_;
  Tensor memory_;
  std::unique_ptr<Arena> file_;
  float* data_ = nullptr;
};

}  // namespace voxshard

// Damages an input the way files are damaged and attackers write them; deterministic by its seed.
//
//   Mutator mutator(seeds, 7);
//   for (int i = 0; i < 1000; ++i) run_target(target, mutator.next());
//
// Inputs that a reader took to its end can be given back, to be damaged further.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace voxshard {

class Mutator {
 public:
  /// Requires at least one seed.
  Mutator(std::vector<std::string> seeds, std::uint64_t seed);

  /// Returns the seeds as they are, then inputs of the corpus with 1 to 8 changes: bits, bytes, numbers at their
  /// limits, parts cut out, doubled, moved in from another input, words of the formats, brackets without end. At most 1
  /// MiB.
  std::string next();
  /// Takes the last input into the corpus, which keeps the seeds and at most 256 others.
  void keep(const std::string& input);

 private:
  std::size_t below(std::size_t n);
  void change(std::string& input);
  void overwrite(std::string& input, std::string_view piece);

  std::vector<std::string> corpus_;
  std::size_t seeds_ = 0, served_ = 0, kept_ = 0;
  std::mt19937_64 random_;
};

}  // namespace voxshard

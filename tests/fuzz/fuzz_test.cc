// Every reader of outside bytes against damaged inputs: it reads them or refuses them. A crash ends this program, and
// the input that did it stays in the folder that the message names. Some hundred inputs each by default;
//
//   VOXSHARD_FUZZ_SECONDS=600 build/release/bin/test_fuzz --gtest_filter='*/coco'
//
// runs for that long; the slow tests run for some seconds.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <iostream>

#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/mutate.h"
#include "tests/scratch_folder.h"

namespace voxshard {
namespace {

class Fuzz : public testing::TestWithParam<FuzzTarget> {};

/// Returns VOXSHARD_FUZZ_SECONDS; 0: a number of inputs decides.
double seconds_asked() {
  const char* text = std::getenv("VOXSHARD_FUZZ_SECONDS");
  return text == nullptr ? 0 : std::atof(text);
}

TEST_P(Fuzz, ASeedIsReadToItsEnd) {
  int read = 0;
  for (const std::string& seed : GetParam().seeds()) read += run_target(GetParam(), seed) == Outcome::kRead;
  EXPECT_GT(read, 0);
}

TEST_P(Fuzz, DamagedInputsAreReadOrRefused) {
  using Clock = std::chrono::steady_clock;
  const FuzzTarget& target = GetParam();
  constexpr std::uint64_t kSeed = 20;
  constexpr std::int64_t kInputs = 300;
  const double seconds = seconds_asked();
  const auto end = Clock::now() + std::chrono::duration<double>(seconds);
  Mutator mutator(target.seeds(), kSeed);
  std::int64_t inputs = 0, read = 0;
  std::size_t last_size = 0;
  for (; seconds > 0 ? Clock::now() < end : inputs < kInputs; ++inputs) {
    const std::string input = mutator.next();
    last_size = input.size();
    try {
      if (run_target(target, input) == Outcome::kRefused) continue;
    } catch (const std::exception& e) {
      const auto file = std::filesystem::temp_directory_path() / (std::string("voxshard_fuzz_found_") + target.name);
      std::filesystem::copy_file(scratch_file("found", input), file, std::filesystem::copy_options::overwrite_existing);
      FAIL() << "input " << inputs << " (" << last_size << " bytes, in " << file << "): " << e.what();
    }
    ++read;
    mutator.keep(input);
  }
  std::cout << target.name << ": " << inputs << " inputs, " << read << " read to their end\n";
  EXPECT_GT(read, 0);
}

TEST_P(Fuzz, EveryStoredInputIsReadOrRefused) {
  const auto folder = std::filesystem::path(VOXSHARD_FUZZ_CORPUS) / GetParam().name;
  ASSERT_TRUE(std::filesystem::is_directory(folder))
      << "no corpus is stored: tests/fuzz/fuzz.sh grows one and tests/fuzz/store_corpus.sh stores it";
  std::int64_t inputs = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    EXPECT_NO_THROW(run_target(GetParam(), read_bytes(entry.path()))) << entry.path();
    ++inputs;
  }
  EXPECT_GT(inputs, 0);
}

INSTANTIATE_TEST_SUITE_P(Readers, Fuzz, testing::ValuesIn(fuzz_targets()),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace voxshard

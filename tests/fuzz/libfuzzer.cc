// The entry points that clang's libFuzzer calls. One program for all readers; the first word chooses:
//
//   build/fuzz/bin/voxshard_fuzz coco CORPUS -max_total_time=600 -print_final_stats=1
//
// Without a corpus folder it begins with nothing; "coco seeds FOLDER" writes the reader's seeds there and ends, "list"
// names the readers. tests/fuzz/fuzz.sh runs them all.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>

#include "tests/fuzz/fuzz_target.h"

namespace {

const voxshard::FuzzTarget* chosen = nullptr;

void write_seeds(const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  int number = 0;
  for (const std::string& seed : chosen->seeds())
    std::ofstream(folder / ("seed_" + std::to_string(number++)), std::ios::binary) << seed;
}

}  // namespace

constexpr const char* kReader =
    "VOXSHARD_FUZZ_READER";  // for the processes that libFuzzer starts itself, as a merge does

extern "C" int LLVMFuzzerInitialize(int* words, char*** word) {
  if (const char* reader = std::getenv(kReader); reader != nullptr) {
    chosen = &voxshard::fuzz_target(reader);
    return 0;
  }
  if (*words < 2) {
    std::cerr << "name a reader:";
    for (const auto& target : voxshard::fuzz_targets()) std::cerr << " " << target.name;
    std::cerr << "\n";
    std::exit(2);
  }
  if (std::string((*word)[1]) == "list") {
    for (const auto& target : voxshard::fuzz_targets()) std::cout << target.name << "\n";
    std::exit(0);
  }
  chosen = &voxshard::fuzz_target((*word)[1]);
  if (*words == 4 && std::string((*word)[2]) == "seeds") {
    write_seeds((*word)[3]);
    std::exit(0);
  }
  setenv(kReader, (*word)[1], 1);
  for (int i = 1; i + 1 < *words; ++i) (*word)[i] = (*word)[i + 1];
  --*words;
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  voxshard::run_target(*chosen, {reinterpret_cast<const char*>(data), size});
  return 0;
}

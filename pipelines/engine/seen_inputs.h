// Which inputs of a prediction the run was trained on: found by content, said, marked in a file beside the output, and
// read again by evaluate.
//
//   keep_wanted(images, {run.trained_on, o.held_out, report.seen, pool, progress}, [](const fs::path& image) {
//     return HashedCase{.name = image.stem(), .files = {image}};
//   });
//   write_seen("found.json", seen);                       // found.trained_on.json; of a folder trained_on.json in it
//   if (const auto seen = read_seen("found.json")) text = seen_text(*seen) + text;
#pragma once

#include <optional>

#include "io/files/output_file.h"
#include "pipelines/engine/case_hashes.h"
#include "pipelines/model_runs/trained_on.h"

namespace voxshard {

struct InputSieve {
  const TrainedOn& trained_on;
  bool held_out = false;  // what was trained on is not predicted
  SeenInputs& seen;       // is filled
  WorkerPool& pool;
  Progress& progress;
};

/// For each input whether it is to be predicted; says which of them were trained on. Errors: kNoCase when nothing is
/// left.   Cost: reads every file once.
std::vector<char> wanted_inputs(const InputSieve& sieve, const std::vector<HashedCase>& inputs);

/// Leaves in `items` what is to be predicted. `input_of` says what an item is made of.
template <class Item, class InputOf>
void keep_wanted(std::vector<Item>& items, const InputSieve& sieve, const InputOf& input_of) {
  std::vector<HashedCase> inputs;
  for (const Item& item : items) inputs.push_back(input_of(item));
  const std::vector<char> wanted = wanted_inputs(sieve, inputs);
  std::vector<Item> kept;
  for (std::size_t i = 0; i < items.size(); ++i)
    if (wanted[i]) kept.push_back(std::move(items[i]));
  items = std::move(kept);
}

std::filesystem::path seen_file_of(const std::filesystem::path& output);
OutputKind seen_file();
/// Also over an old one that no longer holds; none where nothing was trained on and none lies there. Errors: kOutput.
void write_seen(const std::filesystem::path& output, const SeenInputs& seen);
/// None where no such file stands beside the predictions. Errors: kInput for one that is broken.
std::optional<SeenInputs> read_seen(const std::filesystem::path& predictions);

/// Only those of `names`: what is scored.
SeenInputs seen_among(SeenInputs seen, const std::vector<std::string>& names);
/// The first line of scores, with its end; empty where nothing was trained on.
std::string seen_text(const SeenInputs& seen);

}  // namespace voxshard

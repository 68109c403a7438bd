// Inputs of a prediction that the run was trained on: recognised by content, reported, listed in a file beside the
// output, and read again by evaluate.
//
//   keep_wanted(images, batch.sieve(), [](const fs::path& image) {
//     return HashedCase{.name = image.stem(), .files = {image}};
//   });
//   write_seen("found.json", seen);                       // found.trained_on.json; for a folder trained_on.json in it
//   if (const auto seen = read_seen("found.json")) text = seen_text(*seen) + text;
#pragma once

#include <optional>

#include "io/output/output_file.h"
#include "pipelines/engine/case_hashes.h"
#include "pipelines/model_runs/trained_on.h"

namespace voxshard {

struct InputSieve {
  const TrainedOn& trained_on;
  bool held_out = false;  // true: inputs that were trained on are not predicted
  SeenInputs& seen;       // gets what is seen, in addition to that of earlier calls
  WorkerPool& pool;
  Progress& progress;
  const TrainedOn* only = nullptr;            // the keys of the inputs to predict; null: all
  std::vector<HashedCase>* wanted = nullptr;  // gets the inputs to predict, with their content and times, behind those
                                              // of earlier calls
};

/// Returns for each input 1 when it is to be predicted, else 0; adds to sieve.seen and reports the inputs that were
/// trained on. Inputs that are not among sieve.only are listed as left out. Errors: kNoCase when nothing is left.
/// Cost: reads every file once.
std::vector<char> wanted_inputs(const InputSieve& sieve, const std::vector<HashedCase>& inputs);

/// Removes from `items` those that are not to be predicted. `input_of` returns the files of an item as a HashedCase.
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
/// Writes the list of inputs that were trained on, replacing an old one. When there are none, writes no file and
/// removes an old list. Errors: kOutput.
void write_seen(const std::filesystem::path& output, const SeenInputs& seen);
/// Reads the list beside the predictions; none when there is no such file. Errors: kInput for a broken file.
std::optional<SeenInputs> read_seen(const std::filesystem::path& predictions);

/// Joins the lists of two predictions of one set: left out is what both left out.
SeenInputs joined_seen(SeenInputs a, const SeenInputs& b);

/// Returns `seen` with the trained inputs reduced to `names`, the inputs that are scored.
SeenInputs seen_among(SeenInputs seen, const std::vector<std::string>& names);
/// Returns the first line of a score text, with its line end; empty when no input was trained on.
std::string seen_text(const SeenInputs& seen);

}  // namespace voxshard

// The training that `demo` and `prepare` suggest: about two minutes on this machine, and the sentence that says what it
// leaves out. The size of the model is chosen by {time}, where the kind of model has sizes.
//
//   first_training({"train", "work", "{output}", "run"}, {"{base-filters}", "8"});
//   // .words: train work {output} run {base-filters} 8 {time} 2m
//   // .note:  "a first training of about 2 min; leave out {base-filters} and {time} for the whole model\n"
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace voxshard {

struct FirstTraining {
  std::vector<std::string> words;  // as TaskReport::next
  std::string note;                // for people
};

/// Returns `train` with the settings that make it short, {"{base-filters}", "8", ...}, and the time.
FirstTraining first_training(std::vector<std::string> train, const std::vector<std::string>& small);

/// What decides how long a validation of a first training takes.
struct FirstVolumes {
  int threads = 1;
  std::int64_t cases = 0, voxels = 0;  // prepared; of one channel
};

/// Returns the settings of a first training of a U-Net: none, or to train on all cases where by a rough estimate, of
/// another processor, the validation alone would take most of the time.
std::vector<std::string> first_unet(const FirstVolumes& volumes);

}  // namespace voxshard

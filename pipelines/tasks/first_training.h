// The training that `demo` and `prepare` suggest: about two minutes on this machine, of a model small enough to learn
// something in them, and the sentence that says what it leaves out.
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

/// Returns `train` with the settings of a small model, {"{base-filters}", "8", ...}, and the time.
FirstTraining first_training(std::vector<std::string> train, const std::vector<std::string>& small);

/// Returns a rough estimate of the seconds of a step of a U-Net: of another processor, at the usual depth.
///   voxels   of all samples of the step
///   threads  of all processes
double unet_step_seconds(std::int64_t base_filters, std::int64_t voxels, int threads);

/// What decides how large a U-Net a first training can have.
struct FirstVolumes {
  int threads = 1;
  std::int64_t cases = 0, voxels = 0;       // prepared; of one channel
  std::int64_t crop_voxels = 64 * 64 * 64;  // of a step
};

/// Returns the settings of the largest U-Net that does enough steps in the time: the base filters, and where the
/// validation alone would take most of it also to train on all cases. It only estimates: the time is kept by the steps
/// that `train` measures.
std::vector<std::string> first_unet(const FirstVolumes& volumes);

}  // namespace voxshard

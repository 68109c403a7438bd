// The samples of a training step: the case, the crop and the augmentation of each. Everything is a pure function of the
// seed and the sample's number, so that a resumed run continues with the same samples; each core fills only its own
// box.
//
//   SampleSource source(dataset, cases, {.crop = {64, 64, 64}});
//   std::vector<Sample> batch = source.batch(step, 2);
//   trainer.step(source.extents(batch), [&](auto& input, auto& box) { source.fill(batch, input.input, box); });
#pragma once

#include <array>
#include <limits>
#include <span>

#include "io/volume/mapped_volume.h"
#include "libcore/base/rng.h"
#include "libcore/graph/input_info.h"
#include "pipelines/tasks/run_length.h"
#include "pipelines/tasks/segmentation/dataset/prepared_dataset.h"
#include "pipelines/tasks/segmentation/samples/volume_augmentation.h"
#include "pipelines/tasks/segmentation/sides/joined_classes.h"

namespace voxshard {

/// Whose class a crop on a class is drawn on. kCase: one that the case of the sample has, cases in turn; kSet: one that
/// any case has, then a case that has it, so that a class of few cases is seen as often as one of all. A joined class
/// is one class here, and then either of its sides.
enum class CropsOn { kCase, kSet };
inline constexpr const char* kCropsOnNames[] = {"case", "set"};

struct SamplingOptions {
  std::uint64_t seed = 0;
  Dims crop;                     // D H W; empty: whole volumes
  double foreground = 0.7;       // share of crops centred on a voxel of a random class; all where the background is
                                 // ignored
  double intensity_scale = 0.1;  // standard deviation of the intensity factor
  double noise = 0.05;           // of added noise, in normalised units
  CropsOn crops = CropsOn::kCase;
  std::array<bool, 3> flip{};  // mirror along D, H, W with probability 1/2
  VolumeAugmentation augmentation = {};
  std::int64_t whole_steps = 0;  // so many steps at the end of the run are on whole volumes in place of crops
  // What is whole along an axis is rounded up to pad_multiple, so that plans are reused: whole volumes, and with trims
  // crops along the axes on which they would be longer than their volume. Without trims such crops are padded to
  // `crop`.
  std::int64_t pad_multiple = 8;
  bool trims = false;
  bool merge = false;         // the loss is marginal: the background of an incomplete case is trained on
  JoinedClasses joined = {};  // the classes of the data that are one class of the model
};

struct Sample {
  std::size_t item = 0;                 // index of the case
  std::array<std::int64_t, 3> begin{};  // low corner of the crop in the volume; may be negative (padding)
  Dims size;                            // D H W
  std::array<bool, 3> mirrored{};
  std::uint64_t number = 0;  // key of the noise and of the intensity factors
  int drawn_on = 0;          // the class of the voxel that the crop is drawn on; 0: none
};

class SampleSource {
 public:
  /// Maps the volumes of `cases` (indices into dataset.cases). Errors: kInput, kNoCase when there is none.
  SampleSource(const PreparedDataset& dataset, std::vector<std::size_t> cases, SamplingOptions options);

  /// Takes other options for the samples from now on.
  ///   length  of the run; of one of unknown length no step is on whole volumes in place of crops
  void set(const SamplingOptions& options, const RunLength& length = {});
  /// Return the grid of a case, and voxels of its classes.
  const Geometry& grid(std::size_t item) const { return volumes_.at(item).label.geometry(); }
  const ForegroundVoxels& foreground(std::size_t item) const { return volumes_.at(item).foreground; }

  /// Returns the samples of a step. Each epoch visits all cases in a new order. Whole volumes and trimmed crops of a
  /// batch are padded to the largest extents among them.
  std::vector<Sample> batch(std::int64_t step, std::int64_t size) const;
  /// Returns, by class, how many of the first `samples` samples were drawn on it; [0]: on none.
  std::vector<std::int64_t> drawn_on(std::int64_t samples) const;
  Shape extents(std::span<const Sample> batch) const;
  /// Returns the extents of the largest possible batch, for which the whole run is planned.
  Shape largest_extents(std::int64_t batch_size) const;
  /// Returns the mean number of voxels of a sample.
  double mean_voxels() const;
  /// Returns the sizes of samples that are cropped and that are not.
  SampleSizes sample_sizes(std::int64_t batch_size) const;
  /// Asks the operating system to read ahead the data of a later step.
  void prefetch(std::span<const Sample> batch) const;
  /// Releases the file pages that a step left mapped: without it a long run would keep all files in memory.
  void done_with(std::span<const Sample> batch) const;
  /// Returns the number of different extents of samples; 1 for crops that are not trimmed.
  std::int64_t sizes() const;
  /// Returns the most bytes of the files that a step of these extents maps.
  std::int64_t mapped_bytes(const Shape& extents) const;
  /// Returns the most bytes that a thread holds to change samples.
  std::int64_t augmentation_bytes() const;
  /// Returns the bytes copied out of the files so far, as their readers count them.
  std::int64_t copied_bytes() const;
  /// Fills `box` (N, D, H, W, C) of the image, with all of its channels, or of the labels, C = 1, or `box` (N, classes)
  /// of the known classes. Outside the volume the image is air and the label is the one that losses ignore; voxels of
  /// the plan's ignore_label get that label too, and so does the background of a case in which not every class was
  /// annotated, since it may hold the others, unless the labels are merged. Labels are classes of the model: a joined
  /// class is known where both of its sides are; merged, the voxels of a side that was annotated alone are ignored.
  /// Factor and noise of each channel are its own.
  void fill(std::span<const Sample> batch, const InputInfo& input, const TensorView& box) const;

 private:
  struct Volumes {
    std::vector<MappedVolume> images;  // by channel
    MappedVolume label;
    ForegroundVoxels foreground;
    std::optional<std::vector<int>> annotated;  // none: every class was
    // the classes with voxels to draw crops on: for each class of the model those of the data, two where it is joined
    std::vector<std::vector<int>> present = {};
    Shape shape() const { return label.shape(); }
    bool complete() const { return !annotated.has_value(); }
  };
  /// Notes the classes that the cases have.
  void find_classes();
  /// True when all that a class of the model stands for was annotated.
  bool is_known(const Volumes& volumes, int model_class) const;
  Dims whole_size(std::size_t item) const;
  Dims sample_size(std::size_t item, bool whole) const;
  /// True for samples that are not cropped.
  bool is_whole(std::int64_t index) const { return options_.crop.empty() || index >= whole_from_; }
  /// Return whether the run has samples that are not cropped, or that are.
  bool has_whole() const { return options_.crop.empty() || whole_share_ > 0; }
  bool has_crops() const { return !options_.crop.empty() && whole_share_ < 1; }
  /// Returns the mean number of voxels, and the largest extents, of samples that are whole or are not.
  double mean_voxels(bool whole) const;
  Shape largest_extents(std::int64_t batch_size, bool whole) const;
  /// Returns a sample of the case whose turn it is, or of another where its crop is drawn on a class of the set.
  Sample sample(std::int64_t index, std::size_t turn) const;
  /// Returns the intensity factor of a channel.
  double scale(const Sample& sample, std::size_t channel) const;
  /// Returns the key of the noise of a channel, indexed by the voxels of the sample.
  RngKey noise_key(const Sample& sample, std::size_t channel) const;
  /// Returns the map from a sample's voxels to those of its volume; none where it is neither turned nor scaled.
  std::optional<SpatialMap> moved(const Sample& sample) const;
  /// Fill a channel of the image, or the labels with `ignored` outside the volume; `box` has C = 1.
  void fill_channel(const Sample& sample, std::size_t channel, const TensorView& box) const;
  void fill_labels(const Sample& sample, const input::Labels& labels, const TensorView& box) const;

  SamplingOptions options_;
  double whole_share_ = 0;  // of the samples of the run: whole in place of crops
  std::int64_t whole_from_ = std::numeric_limits<std::int64_t>::max();  // number of the first of them
  std::vector<Volumes> volumes_;
  std::vector<std::vector<int>> present_;           // the same of all cases together
  std::vector<std::vector<std::size_t>> cases_of_;  // by class: the cases that have it
  std::vector<float> air_;                          // by channel
  std::vector<ValueRange> ranges_;                  // by channel
  std::int32_t unknown_ = -1;                       // the label of voxels that losses ignore
};

/// Returns the normalised value of air for each channel of a plan, used outside a volume.
std::vector<float> air_values(const PreparePlan& plan);
/// Returns the normalised values between which the images of a channel lie; none is known where they are not clipped.
ValueRange value_range(const PreparePlan& of_channel);

}  // namespace voxshard

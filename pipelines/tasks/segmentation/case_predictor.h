// Predicts cases of volumes by the models of a batch: one alone, or several whose probabilities are averaged. Knows the
// extents and the memory of a case from its headers, reads it, and gives what was predicted on the prepared grid.
//
//   CasePredictor predictor(batch, keeps_probabilities);
//   turns.push_back(predictor.turn_of(item, i));
//   batch.takes(predictor.plan_that_fits(item));
//   PredictedVolume found = predictor.predicted(item);
#pragma once

#include "io/datasets/dataset.h"
#include "pipelines/engine/prediction.h"
#include "pipelines/tasks/segmentation/prepared_channels.h"
#include "pipelines/tasks/segmentation/scores/class_probabilities.h"
#include "pipelines/tasks/segmentation/scores/prediction_times.h"
#include "pipelines/tasks/segmentation/volume_model.h"

namespace voxshard {

/// The prediction of a case, on the prepared grid.
struct PredictedVolume {
  Geometry original, grid;             // of the files, and the prepared one
  std::optional<Box> crop;             // of nnU-Net's convention
  Tensor labels;                       // (D, H, W) i32
  SpilledFloats sums;                  // (D, H, W, C) of probabilities over the models; only where they are kept
  std::int64_t times = 0;              // models that were added, each as often as it was given
  std::vector<Quantiles> intensities;  // of each channel, as the first model saw it; only where flags are given
  /// The bytes of the sums that are in memory once they are made: one thread at a time reads them.
  std::int64_t sums_bytes() const { return sums.resident_bytes(1); }
};

/// A case in its turn.
struct CaseInTurn {
  const Case& item;
  std::size_t number = 0;                  // in Prediction::names()
  const std::vector<std::string>& hashes;  // of its files, made in its turn
  const Case* next = nullptr;              // the case of the next turn, where it may be read ahead
};

/// What is read ahead of a case, with the hashes that its files had before.
struct CaseAhead {
  PreparedChannels prepared;
  std::vector<std::string> hashes;
  bool like_mask = false;
};

class CasePredictor {
 public:
  /// `keeps_probabilities`: predicted() gives them. Errors: kCheckpoint.
  CasePredictor(PredictionBatch& batch, bool keeps_probabilities);
  /// Drops what was read ahead.
  ~CasePredictor();
  CasePredictor(const CasePredictor&) = delete;
  CasePredictor& operator=(const CasePredictor&) = delete;

  /// What the models say of volumes; what decides the grid of the label maps is the same for all.
  const VolumeModel& first() const { return models_.front(); }
  bool averages() const { return models_.size() > 1; }

  /// Returns the turn of case `i` from the headers; without extents for a case that cannot be read or is too large.
  PredictionTurn turn_of(const Case& item, std::size_t i) const;
  /// As Prediction::bytes_beside().
  BytesBeside bytes_beside(std::size_t model) const;
  /// Returns the memory plan of a case from its headers. Errors, which refuse it: kInput E_SIZE, E_BUDGET; kBudget.
  ///   says  with the warnings of the headers
  ProcessPlan plan_that_fits(const Case& item, bool says = true) const { return plan_that_fits(item, says, nullptr); }
  /// True when that plan is within the budget, or something else than memory refuses the case.
  bool fits(const Case& item) const;
  /// Returns that plan for a dry run. `kept`: an earlier call predicted the case; where its prediction would not fit
  /// today it takes what the process holds. Errors: those of plan_that_fits(), of a case that is not kept.
  ProcessPlan rehearsed_plan(const Case& item, bool kept) const;
  /// Returns that plan for the current turn, whose core set, and that of the turn before, stay alive outside of the
  /// network where the memory of the process holds them; else they are released. Errors: the same.
  ProcessPlan plan_of_turn(const Case& item, const PredictionTurn& turn);
  /// Predicts a case by all models, after plan_of_turn(). Each core set is released as soon as it is not needed, unless
  /// it stays for the next turn, and the image is read anew for each model, which normalises it in its own way: the
  /// memory plan counts on that. The next case is read and prepared for the first model meanwhile, where the batch
  /// finds room for it. Errors: kInput; as predict_volume(); Stopped.
  PredictedVolume predicted(const CaseInTurn& turn);
  /// What predicted() took so far; who writes what it gives adds that.
  PredictionTimes times;

 private:
  /// The memory of core sets in a turn, and the plan of the turn with them.
  struct WarmCores {
    ProcessPlan own = {};                 // while the network works
    ProcessPlan before = {}, after = {};  // that stay alive before and after that
    ProcessPlan plan = {};
  };
  /// `warm`: its plan is made too, whatever the memory of the process.
  ProcessPlan plan_that_fits(const Case& item, bool says, WarmCores* warm) const;
  ProcessPlan beside_cores(const VolumeInfo& info, const std::filesystem::path& path) const;
  ProcessPlan plan_ahead(const Case& item) const;
  void read_next(const CaseInTurn& turn);
  /// Returns the case of a turn as the first model sees it: what was read ahead, unless the files have changed since.
  PreparedChannels first_seen(const CaseInTurn& turn);
  PreparedChannels read_now(const Case& item, const PreparePlan& plan, bool says);
  void warn_of_mask(const Case& item) const;
  /// Returns the header of a channel as it is read; `first` keeps that of the first one.
  VolumeInfo info_of(const Case& item, std::size_t channel, std::optional<VolumeInfo>& first,
                     const PreparePlan& plan) const;
  Shape planned_extents(const Case& item, const VolumeModel& model) const;
  bool sums() const { return averages() || keeps_; }
  /// True where the cores of a model take turns in that turn: the sums then lie in a file as well.
  bool spills(const PredictionTurn& turn) const;
  /// Returns the number of classes whose probabilities are summed beside a model; 0: its labels alone are taken.
  std::int64_t summed_classes(std::size_t model) const { return sums() ? models_[model].classes : 0; }

  PredictionBatch& b_;
  const VolumeFormats& formats_;
  bool keeps_;
  std::vector<VolumeModel> models_;
  WarmCores warm_;                  // of the current turn
  bool spills_ = false;             // the same
  std::optional<CaseAhead> ahead_;  // of the other thread until the batch says that it was read
};

}  // namespace voxshard

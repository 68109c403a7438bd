// The requests that commands pass to a task, and the reports that they get back.
//
//   EvaluateOptions o{.predictions = "found.json", .references = "truth.json"};
//   o.task.of<EvaluateDetectionOptions>().curves = "curves.csv";
//   TaskReport r = run_evaluate(o, progress);
#pragma once

#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "io/volume/volume.h"
#include "libcore/models/model.h"
#include "libcore/tensor/dtype.h"
#include "libcore/tensor/shape.h"
#include "pipelines/engine/foreign_files.h"
#include "pipelines/model_runs/averaged_runs.h"
#include "pipelines/model_runs/class_score.h"
#include "pipelines/model_runs/process_plan.h"
#include "pipelines/model_runs/report.h"
#include "pipelines/model_runs/trained_on.h"
#include "pipelines/settings/setting.h"

namespace voxshard {

/// The outcome of a command for a task, as JSON and as text for people.
struct TaskReport {
  nlohmann::ordered_json json;
  std::string text;
  bool partial = false;  // some cases failed, the others are valid
  bool interrupted = false;
  // the suggested next command, {"prepare", "data", "{output}", "work"}; may be empty
  std::vector<std::string> next = {};
  std::string note = {};  // a sentence on it for people, with a line end; may be empty
  // without the bytes that the process held before; the command adds these and the measured peak
  ProcessPlan memory = {};
  std::vector<ClassScore> scores = {};  // of evaluate
  std::vector<std::string> cases = {};  // of evaluate on predictions: the names of what was scored
};

struct DemoOptions {
  std::filesystem::path folder;
  std::string task;               // a name in the table; empty: its first
  std::string kind;               // one of the task's demo_kinds(); empty: its first
  std::optional<int> cases;       // for training; none: the task's default
  std::optional<int> test_cases;  // held out; none: the task's default
  std::uint64_t seed = 0;
  std::string size = "small";  // 48 to 80 voxels or 160 to 256 pixels an axis; medium: twice; large: three times
  int threads = 1;
};

struct DemoReport {
  std::filesystem::path folder;
  std::string task;
  int cases = 0, test_cases = 0;
  std::int64_t points = 0;
  std::string point = "voxels";   // the unit of `points`
  std::vector<std::string> next;  // the suggested next command, {"prepare", "demo", "{output}", "work"}
  std::string note = {};          // a sentence on it for people, with a line end; may be empty
  double seconds = 0;
};

/// Returns a hash of everything that determines the contents of a demo data set.
std::string demo_hash(const DemoOptions& options, int cases, int test_cases);

/// Makes the cases 0 to `total` - 1 of a demo data set on its threads and shows how many are made. Errors: Stopped;
/// those of `make`.
///   what  "clips", for the progress
///   make  makes a case and returns its name
void make_demo_cases(const DemoOptions& options, int total, const std::string& what, Progress& progress,
                     const std::function<std::string(int)>& make);

struct InfoOptions {
  bool quick = false;  // headers only: packets of videos are counted instead of decoding every frame
  int threads = 1;
  VolumeFormats formats = volume_formats();
};

/// The part of an info report about entries of one kind.
struct InfoSection {
  nlohmann::ordered_json json = nlohmann::ordered_json::array();  // one entry each
  std::string text;

  template <class Info>
  void add(const Info& info) {
    json.push_back(to_json(info));
    text += to_text(info);
  }
};

struct InfoReport {
  InfoSection files, videos, folders, images;             // by their kind on disk
  std::vector<std::pair<std::string, InfoSection>> sets;  // data sets, by the name that a task gives to its kind
  std::vector<CaseFailure> failures;                      // entries that cannot be used
  std::size_t unusable = 0;                               // number of named files (not folders) that cannot be used
  std::vector<std::string> next;                          // the suggested next command, for the first data set

  /// Returns the section of data sets with that name, which is added when there is none.
  InfoSection& set(const std::string& name);
};

struct CheckRequest {
  std::filesystem::path dataset;
  bool deep = false;             // true: every voxel is read
  std::filesystem::path output;  // folder for lists and images of the findings; may be empty
  std::filesystem::path csv;     // CSV of the findings; may be empty
  TaskOptions task;
};

struct PrepareRequest {
  std::filesystem::path dataset, work;
  std::uint64_t seed = 0;
  bool resume = false;   // skip the cases that are finished and unchanged
  bool dry_run = false;  // nothing is prepared or written; the report says what would be
  TaskOptions task;
};

/// The training and validation cases at the start of a run, by the names in its splits_final.json.
struct KeptSplit {
  std::set<std::string> train, val;
  bool holds(const std::string& name) const { return train.contains(name) || val.contains(name); }
  /// True when all items of this name validated: names of files are not unique, and what trained does not validate now.
  bool validates(const std::string& name) const { return val.contains(name) && !train.contains(name); }
};
/// Returns an E_MISSING failure for every name in `kept` that is not among `names`.
std::vector<CaseFailure> gone_from(const KeptSplit& kept, const std::vector<std::string>& names);

/// The source of a run's samples, and the threads and memory that checking them may use.
struct TrainingData {
  std::filesystem::path data;
  std::uint64_t seed = 0;  // for sampling and augmentation
  int threads = 1;
  std::int64_t memory_bytes = 0;     // beside the bytes that the process holds already; 0: no limit
  StopCheck stop = {};               // called while samples are checked, which throws Stopped when it asks for a stop
  std::vector<KeptSplit> kept = {};  // for a run that resumes with changed data: no case that trained then validates
                                     // now; for volumes one per fold; empty: the data and the options decide
  bool accepts_changes = false;      // for such a run: damaged cases are left out instead of refused
};

struct PredictOptions {
  std::filesystem::path run;                             // a run folder, or a checkpoint file
  std::vector<std::filesystem::path> further_runs = {};  // the same: runs whose probabilities are averaged with its own
  std::filesystem::path input;                           // depends on the task: an image, a folder of images, ...
  std::filesystem::path output;                          // depends on the task: a folder, or a file
  std::string checkpoint = "auto";                       // as in TrainedRunOptions
  std::string weights = "auto";                          // the same
  std::optional<Dims> partition;                         // none: that of the training
  std::optional<DType> precision;
  bool held_out = false;               // true: inputs that the run was trained on are not predicted
  std::optional<TrainedOn> only = {};  // keys of the inputs to predict, as CaseHashes has them; none: all
  bool into_run = false;   // true: the output lies in the folder of the run, as what `train` predicts when it ends
  bool recursive = false;  // true: of a folder everything in it and in the folders in it
  bool dry_run = false;    // true: nothing is predicted or written; the report says what would be
  VolumeFormats formats = volume_formats();
  ModelTable models = model_table();
  TaskOptions task;

  /// Returns the input and the runs: what no output may replace.
  std::vector<std::filesystem::path> read_paths() const;
};

struct PredictedCase {
  std::string id;
  std::filesystem::path file;
  double seconds = 0;
};

/// An output of an input that a dry run finds cannot be made.
struct RefusedOutput {
  std::string output, code, reason;  // "dicom-seg", "W_OUTPUT", why
};

/// An input or a case as a dry run found it.
struct PlannedInput {
  std::string id;
  Shape extents;                                 // N and the spatial axes of what the model sees; of a case its voxels
  std::int64_t bytes = 0;                        // of the process at the peak
  bool kept = false;                             // an earlier call predicted it, and it would be kept
  std::optional<double> seconds = std::nullopt;  // an estimate; none: nothing is known
  std::vector<RefusedOutput> not_written = {};   // as far as headers tell
};

struct PredictReport {
  std::filesystem::path checkpoint = {};   // the checkpoint that was used
  std::string weights = {};                // as in TrainedRun
  std::vector<AveragedRun> averaged = {};  // the runs, where several were averaged; the first is that of `checkpoint`
  std::vector<PredictedCase> cases;
  std::vector<PlannedInput> planned;  // of a dry run
  std::string time_source = {};       // of a dry run: what their seconds were estimated from, as InputTimes::source()
  std::int64_t kept = 0;              // cases that an earlier call with the same settings and inputs predicted
  std::vector<CaseFailure> failures;  // also in quarantine.csv
  std::vector<std::string>
      not_reached;            // the inputs that were not predicted because of a stop; in quarantine.csv as E_STOPPED
  ForeignFiles foreign = {};  // files of the input folder that are no inputs
  SeenInputs seen = {};       // the inputs that the run was trained on
  std::int64_t bytes_per_core = 0;  // for the largest input
  std::int64_t host_bytes = 0;
  std::int64_t scratch_bytes = 0;     // the largest file of cores that took turns; 0: none did
  ProcessReport memory = {};          // of the process, at its peak
  nlohmann::ordered_json ranks = {};  // with several ranks: the memory of each, on rank 0
  bool interrupted = false;
  bool damaged = false;                // part of an input, or an output beside it, is missing; predictions are valid
  nlohmann::ordered_json found = {};   // the task's own entries of the report, by key
  std::string text;                    // for people, without a full stop
  std::vector<std::string> next = {};  // the suggested next command, as in TaskReport
};

/// Returns a hash of everything that determines the prediction for an image: the content of the checkpoints, their
/// weights, the precision, and `how`, the task's other settings.
std::string prediction_hash(const PredictOptions& options, const TrainedRun& run, const std::string& how = "");

/// Returns the rows of quarantine.csv of a prediction: the failures, and the inputs that were not reached.
std::vector<CaseFailure> left_out(const PredictReport& report);

/// Returns "3 predicted, 1 quarantined (see pred/quarantine.csv), 12 objects, 0.31 s each; at most 96.0 MiB per
/// core\n"; after a stop also "INCOMPLETE: interrupted, 25 of 72 not reached (see pred/quarantine.csv); the same
/// command goes on".
///   what  ", 12 objects"; may be empty
std::string prediction_text(const PredictReport& report, const std::filesystem::path& quarantine,
                            const std::string& what);

/// A page that shows predictions.
struct SheetRequest {
  std::filesystem::path predictions;
  std::filesystem::path images;  // what was predicted on; empty: what the predictions lead to
  std::filesystem::path file;    // HTML to write
};

struct EvaluateOptions {
  std::filesystem::path predictions,
      references;                   // or a run folder or checkpoint, and data in a form that its task trains on
  std::filesystem::path summary;    // JSON to write; may be empty
  std::string checkpoint = "auto";  // for a run, as in TrainedRunOptions
  std::string weights = "auto";     // the same
  std::int64_t batch = 0;           // for a run: samples of a step over all replicas; 0: one per replica
  bool dry_run = false;             // nothing is scored or written; the report says what would be
  std::int64_t steps = 0;           // for a run: number of batches, the data repeated; 0: as many as the data fill once
  SeenInputs seen = {};             // the trained inputs among the predictions, as predict marked them
  TaskOptions task;
  std::vector<std::filesystem::path> further = {};  // more predictions: with `predictions` they are one set, of which
                                                    // each has other cases
};

}  // namespace voxshard

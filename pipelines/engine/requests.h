// What the commands hand to a task, and what they get back.
//
//   EvaluateOptions o{.predictions = "found.json", .references = "truth.json"};
//   o.task.of<EvaluateDetectionOptions>().curves = "curves.csv";
//   TaskReport r = run_evaluate(o, progress);
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "io/volume/volume.h"
#include "libcore/models/model.h"
#include "libcore/tensor/dtype.h"
#include "libcore/tensor/shape.h"
#include "pipelines/model_runs/process_plan.h"
#include "pipelines/model_runs/report.h"
#include "pipelines/model_runs/trained_on.h"
#include "pipelines/settings/setting.h"

namespace voxshard {

/// What a command did for a task, as a document and for people.
struct TaskReport {
  nlohmann::ordered_json json;
  std::string text;
  bool partial = false;  // some cases failed, the others are valid
  bool interrupted = false;
  std::vector<std::string> next =
      {};                   // the command to go on with, {"prepare", "data", "{output}", "work"}; may be empty
  ProcessPlan memory = {};  // beside what the process held before; the command adds that, and the measured peak
};

struct DemoOptions {
  std::filesystem::path folder;
  std::string task;               // a name in the table; empty: its first
  std::string kind;               // one of the task's demo_kinds(); empty: its first
  std::optional<int> cases;       // to train with; else as many as the task thinks right
  std::optional<int> test_cases;  // held out
  std::uint64_t seed = 0;
  std::string size = "small";  // 48 to 80 voxels or 160 to 256 pixels an axis; medium: twice; large: three times
  int threads = 1;
};

struct DemoReport {
  std::filesystem::path folder;
  std::string task;
  int cases = 0, test_cases = 0;
  std::int64_t points = 0;
  std::string point = "voxels";   // what points are
  std::vector<std::string> next;  // the command to go on with, {"prepare", "demo", "{output}", "work"}
  double seconds = 0;
};

/// Of all that decides what a demo holds.
std::string demo_hash(const DemoOptions& options, int cases, int test_cases);

struct InfoOptions {
  bool quick = false;  // headers only: packets of videos are counted instead of decoding every frame
  int threads = 1;
  VolumeFormats formats = volume_formats();
};

/// What is known about the things of one kind.
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
  InfoSection files, videos, folders, images;             // by what they are on the disk
  std::vector<std::pair<std::string, InfoSection>> sets;  // data sets, by the name that a task gives to its kind
  std::vector<CaseFailure> failures;                      // what cannot be used
  std::size_t unusable = 0;                               // of the files that were named, no folders
  std::vector<std::string> next;                          // the command to go on with, of the first data set

  /// The section of data sets with that name.
  InfoSection& set(const std::string& name);
};

struct PrepareRequest {
  std::filesystem::path dataset, work;
  std::uint64_t seed = 0;
  bool resume = false;  // skip the cases that are finished and unchanged
  TaskOptions task;
};

/// What trained and what validated when a run began, by the names in its splits_final.json.
struct KeptSplit {
  std::set<std::string> train, val;
  bool holds(const std::string& name) const { return train.contains(name) || val.contains(name); }
};
/// Of every name that is kept but not there any more: E_MISSING.
std::vector<CaseFailure> gone_from(const KeptSplit& kept, const std::vector<std::string>& names);

/// Where the samples of a run come from, and what looking at them may take.
struct TrainingData {
  std::filesystem::path data;
  std::uint64_t seed = 0;  // of samples and augmentation
  int threads = 1;
  std::int64_t memory_bytes = 0;     // beside what the process holds already; 0: no limit
  StopCheck stop = {};               // asked while samples are looked at, which then throws Stopped
  std::vector<KeptSplit> kept = {};  // of a run that goes on with changed data: what trained then does not validate
                                     // now; of volumes by fold; empty: the data and the options say
  bool accepts_changes = false;      // of such a run: what is damaged is left out where it would else be refused
};

struct PredictOptions {
  std::filesystem::path run;        // a run folder, or a checkpoint file
  std::filesystem::path input;      // of the task: an image, a folder of images, ...
  std::filesystem::path output;     // of the task: a folder, or a file
  std::string checkpoint = "auto";  // as in TrainedRunOptions
  std::optional<Dims> partition;    // other than that of the training
  std::optional<DType> precision;
  bool held_out = false;  // what the run was trained on is not predicted
  VolumeFormats formats = volume_formats();
  ModelTable models = model_table();
  TaskOptions task;
};

struct PredictedCase {
  std::string id;
  std::filesystem::path file;
  double seconds = 0;
};

struct PredictReport {
  std::filesystem::path checkpoint = {};  // that predicted
  std::vector<PredictedCase> cases;
  std::int64_t kept = 0;              // of the cases: predicted by an earlier call that had all in common with this one
  std::vector<CaseFailure> failures;  // also in quarantine.csv
  std::vector<std::string> not_reached;  // the inputs whose turn a stop forestalled; in quarantine.csv as E_STOPPED
  SeenInputs seen = {};                  // of the inputs those that the run was trained on
  std::int64_t bytes_per_core = 0;       // of the largest input
  std::int64_t host_bytes = 0;
  ProcessReport memory = {};          // of the process, at its widest moment
  nlohmann::ordered_json ranks = {};  // of several: the memory of each, on rank 0
  bool interrupted = false;
  bool damaged = false;                // part of an input could not be read; what was predicted is valid
  nlohmann::ordered_json found = {};   // what the task says of it, by key
  std::string text;                    // for people, without a full stop
  std::vector<std::string> next = {};  // the command to go on with, as in TaskReport
};

/// Of all that decides what is predicted for an image: the checkpoint's content, the precision, and `how`, what else
/// the task was told.
std::string prediction_hash(const PredictOptions& options, const std::filesystem::path& checkpoint,
                            const std::string& how = "");

/// What quarantine.csv says of a prediction: the failures, and what was not reached.
std::vector<CaseFailure> left_out(const PredictReport& report);

/// "3 predicted, 1 quarantined (see pred/quarantine.csv), 12 objects, 0.31 s per image; at most 96.0 MiB per core\n";
/// of a stopped one also "INCOMPLETE: 25 of 72 not reached (see pred/quarantine.csv)".
///   what  ", 12 objects"; may be empty
std::string prediction_text(const PredictReport& report, const std::filesystem::path& quarantine,
                            const std::string& what);

struct EvaluateOptions {
  std::filesystem::path predictions, references;  // or a run folder or checkpoint, and data as its task trains on
  std::filesystem::path summary;                  // JSON to write; may be empty
  std::string checkpoint = "auto";                // of a run, as in TrainedRunOptions
  std::int64_t batch = 0;                         // of a run: samples of a step over all replicas; 0: one per replica
  std::int64_t steps = 0;  // of a run: batches, the data repeated; 0: those that the data fill once
  SeenInputs seen = {};    // of the predictions, as predict marked them
  TaskOptions task;
};

}  // namespace voxshard

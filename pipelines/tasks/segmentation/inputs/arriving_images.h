// The images of an inbox for `predict --watch`: entries that are complete give images, and go to the folder of finished
// inputs when all their cases have ended. With {rules} entries are studies: what the rules leave alone goes there at
// once, and a study that comes again is told from a new one (studies/study_again.h).
//
//   ArrivingImages arriving({.folder = "inbox", .done = "done"}, {.recursive = true}, formats, progress);
//   std::vector<fs::path> images = arriving.wait();          // Stopped while it waits
//   arriving.expect(cases);                                  // the cases that were made of them
//   arriving.ended(item, {});                                // moves what is finished
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "io/datasets/case_ids.h"
#include "io/datasets/dataset.h"
#include "io/inbox/inbox.h"
#include "pipelines/tasks/segmentation/dataset/dataset_source.h"
#include "pipelines/tasks/segmentation/inputs/find_images.h"
#include "pipelines/tasks/segmentation/inputs/volume_reading.h"

namespace voxshard {

class PredictionBatch;

/// Checks the settings of a folder in which inputs arrive. Errors: kUsage when {done} is missing or given without
/// {watch}, or its folder lies in the input or the output or holds one.
void require_watchable(const VolumeReading& reading, const PredictOptions& options);

/// Counts of entries that gave no images, by what became of them.
struct ArrivalCounts {
  LeftAlone left_alone = {};
  std::size_t unchanged = 0, changed = 0;  // studies that came again; those that had failed are unchanged too
  std::size_t unreadable = 0;              // entries that cannot be read at all
  std::size_t incomplete = 0;              // entries that still change, of a dry run

  /// Adds "left_alone" and "arrivals" to a report.
  void add_to(PredictReport& report) const;
};

class ArrivingImages {
 public:
  /// With search.rules entries are studies. Errors: those of Inbox.
  ArrivingImages(InboxFolders folders, const ImageSearch& search, const VolumeFormats& formats, Progress& progress);

  /// Waits for entries with images; returns these images, and those that earlier entries gave and no case took (a
  /// channel of several that came alone). Returns none where there is something for list_unreadable(). Entries without
  /// images, such as loose files of DICOM slices, stay where they are, and are counted once. Deletes finished entries
  /// that are too old. Errors: Stopped; those of Inbox::arrived() and Inbox::finish().
  std::vector<std::filesystem::path> wait();
  /// Lists what the last wait() found of entries of which nothing can be read, as the function of that name; those that
  /// came again and can be read leave the lists.
  void list_unreadable(PredictionBatch& batch, const DatasetSource& source, CaseNamesLog& names);
  /// Leaves out cases of which an image lies in an entry that is not complete (a channel that is found beside another
  /// while it is copied): they are made again when it arrives. Leaves out failures that were there after an earlier
  /// wait(): images that wait for others are returned each time. A case that is complete may fail anew later.
  void keep_complete(std::vector<Case>& cases, std::vector<CaseFailure>& failures);
  /// Notes the cases that were made of the images of the last wait().
  void expect(const std::vector<Case>& cases);
  /// Notes that a case was predicted, or left out with a reason; moves its entries whose cases have all ended. An entry
  /// that changed meanwhile stays, and arrives again. Errors: kOutput.
  void ended(const Case& item, const std::optional<FailureReason>& failed);

  const ArrivalCounts& counts() const { return counts_; }

 private:
  bool is_settled_again(const std::filesystem::path& entry);
  std::vector<std::filesystem::path> take_arrived();
  void note_unreadable(const std::filesystem::path& entry, const std::optional<FailureReason>& bad);
  void finish(const std::filesystem::path& entry, const std::optional<FailureReason>& failed);
  std::optional<std::filesystem::path> entry_of(const std::filesystem::path& image) const;
  std::set<std::filesystem::path> entries_of(const Case& item) const;

  struct Entry {
    std::size_t cases = 0;  // that have not ended
    std::optional<FailureReason> failed = {};
  };
  InboxFolders folders_;
  ImageSearch search_;
  const VolumeFormats& formats_;
  Progress& progress_;
  Inbox inbox_;
  ArrivalCounts counts_;
  std::vector<CaseFailure> bad_;                    // entries of the last wait() of which nothing can be read, by name
  std::vector<std::string> readable_;               // names of entries that could not be read before
  std::map<std::string, std::string> unreadable_;   // ids of entries by their names
  std::size_t closed_ = 0;                          // folders that cannot be looked into, as far as that was said
  std::map<std::filesystem::path, Entry> entries_;  // those with images; no cases: they wait for other channels
  std::map<std::filesystem::path, std::set<std::filesystem::path>> used_;  // by image of a case: its entries
  std::map<std::string, std::set<std::string>> said_;                      // messages of failures, by id
};

/// Lists entries of which nothing can be read, under ids of their own, and returns these failures in the same order.
/// Errors: as name_cases().
///   names  as of name_cases(), gets these ids too
std::vector<CaseFailure> list_unreadable(const std::vector<CaseFailure>& by_name, PredictionBatch& batch,
                                         const DatasetSource& source, CaseNamesLog& names);

/// Returns the images of the entries of an inbox that are complete, and the entries that cannot be read, for a dry run:
/// nothing is moved or written. Logs what would be left alone, and what comes again. Errors: kInput when the folder
/// cannot be read.
FoundImageFiles images_waiting(const InboxFolders& folders, const ImageSearch& search, const VolumeFormats& formats,
                               Progress& progress, PredictReport& report);

/// Where the images of a call come from: those that are there, or a folder in which they arrive.
struct PredictionInputs {
  /// Reads the rules, and finds the images that are there; what is left out stands in the report. Logs how long
  /// finished studies of an inbox are kept.
  ///   one_channel  the run reads one: other reconstructions of a scan may be left out
  /// Errors: those of read_study_rules() and find_images().
  PredictionInputs(const PredictOptions& options, bool one_channel, PredictReport& report, Progress& progress);
  PredictionInputs(const PredictionInputs&) = delete;  // `search` refers to the rules
  PredictionInputs& operator=(const PredictionInputs&) = delete;

  std::optional<StudyRules> rules;
  ImageSearch search;
  std::optional<InboxFolders> arriving;  // none where images do not arrive, or nothing is to be moved (a dry run)
  FoundImageFiles found;                 // else
};

}  // namespace voxshard

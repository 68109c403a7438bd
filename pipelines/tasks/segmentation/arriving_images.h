// The images of an inbox for `predict --watch`: entries that are complete give images, and go to the folder of finished
// inputs when all their cases have ended.
//
//   ArrivingImages arriving({.folder = "inbox", .done = "done"}, {.recursive = true}, formats, progress);
//   std::vector<fs::path> images = arriving.wait();          // Stopped while it waits
//   arriving.expect(cases);                                  // the cases that were made of them
//   arriving.ended(item, true);                              // moves what is finished
#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <vector>

#include "io/datasets/dataset.h"
#include "io/files/inbox.h"
#include "pipelines/tasks/segmentation/find_images.h"
#include "pipelines/tasks/segmentation/volume_reading.h"

namespace voxshard {

/// Checks the settings of a folder in which inputs arrive. Errors: kUsage when {done} is missing or given without
/// {watch}, or its folder lies in the input or the output or holds one.
void require_watchable(const VolumeReading& reading, const PredictOptions& options);

class ArrivingImages {
 public:
  /// Errors: those of Inbox.
  ArrivingImages(InboxFolders folders, const ImageSearch& search, const VolumeFormats& formats, Progress& progress);

  /// Waits for entries with images; returns these images, and those that earlier entries gave and no case took (a
  /// channel of several that came alone). Entries without images, such as loose files of DICOM slices, stay where they
  /// are, and are counted once. Errors: Stopped; those of Inbox::arrived().
  std::vector<std::filesystem::path> wait();
  /// Notes the cases that were made of the images of the last wait().
  void expect(const std::vector<Case>& cases);
  /// Notes that a case was predicted or left out; moves its entries whose cases have all ended. Errors: kOutput.
  void ended(const Case& item, bool good);

 private:
  std::vector<std::filesystem::path> images_of(const std::filesystem::path& entry) const;
  std::set<std::filesystem::path> entries_of(const Case& item) const;

  struct Entry {
    std::size_t cases = 0;  // that have not ended
    bool good = true;
  };
  InboxFolders folders_;
  ImageSearch search_;
  const VolumeFormats& formats_;
  Progress& progress_;
  Inbox inbox_;
  std::map<std::filesystem::path, Entry> entries_;  // those with images; no cases: they wait for other channels
  std::map<std::filesystem::path, std::set<std::filesystem::path>> used_;  // by image of a case: its entries
};

}  // namespace voxshard

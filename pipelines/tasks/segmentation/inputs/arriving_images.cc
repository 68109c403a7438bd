#include "pipelines/tasks/segmentation/inputs/arriving_images.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "io/datasets/hidden_paths.h"
#include "io/files/channel_address.h"
#include "io/output/output_folder.h"
#include "libcore/base/text.h"
#include "pipelines/engine/prediction.h"
#include "pipelines/tasks/segmentation/inputs/input_cases.h"
#include "pipelines/tasks/segmentation/studies/study_again.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr auto kLook = 1000ms, kStopLook = 50ms;  // between two looks at the folder, and at a request to stop

std::string counted_text(std::size_t count, const std::string& one, const std::string& several) {
  return std::to_string(count) + " " + (count == 1 ? one : several);
}

void say_without_volume(std::size_t entries, Progress& progress) {
  if (entries > 0)
    progress.warn(counted_text(entries, "entry", "entries") +
                  " of the inbox without a volume left in place; slices of a DICOM series belong into a folder of "
                  "their own");
}

void say_closed(std::size_t entries, Progress& progress) {
  if (entries > 0)
    progress.warn(counted_text(entries, "folder", "folders") +
                  " of the inbox left in place: it cannot be looked into, or is too deep or too full; check its "
                  "permissions");
}

/// Asks about a study that may have come before; one whose files cannot be read is new, and reading it says why.
StudyAgain study_again(StudyAgain (*ask)(const fs::path&, const fs::path&), const fs::path& entry,
                       const fs::path& done) {
  try {
    return ask(entry, done);
  } catch (const Error& e) {
    if (e.kind() != ErrorKind::kInput) throw;
    return {};
  }
}

/// Returns what is listed of an entry of which nothing can be read.
CaseFailure failure_of_entry(const fs::path& entry, const FailureReason& bad) {
  return {entry.filename().string(), bad.code, without_paths_below(bad.text, entry.parent_path(), "the entry")};
}

/// "for ever", "7 days".
std::string kept_for(double keep_days) {
  if (keep_days <= 0) return "for ever";
  return number_text(keep_days) + (keep_days == 1 ? " day" : " days");
}

/// Counts and logs a study that came again.
void note_again(const StudyAgain& again, ArrivalCounts& counts, Progress& progress) {
  ++(again.changed == 0 ? counts.unchanged : counts.changed);
  progress.log(again.text());
}

}  // namespace

void require_watchable(const VolumeReading& reading, const PredictOptions& options) {
  if (reading.watch == reading.done.empty())
    throw Error(ErrorKind::kUsage,
                "[predict] {watch} and {done} FOLDER go together: finished inputs move to that folder");
  if (!reading.watch) return;
  if (options.held_out)
    throw Error(ErrorKind::kUsage, "[predict] {held-out} is about what is there; leave {watch} and {done} out");
  require_outside(reading.done, {options.output, options.input}, "{done}");
  require_outside(options.output, {reading.done}, "{output}");
}

void ArrivalCounts::add_to(PredictReport& report) const {
  report.found["left_alone"] = to_json(left_alone);
  report.found["arrivals"] = {
      {"sent_again", unchanged}, {"changed", changed}, {"unreadable", unreadable}, {"incomplete", incomplete}};
}

ArrivingImages::ArrivingImages(InboxFolders folders, const ImageSearch& search, const VolumeFormats& formats,
                               Progress& progress)
    : folders_(folders), search_(search), formats_(formats), progress_(progress), inbox_(std::move(folders)) {}

/// True for a study that came again and needs no prediction now: it is gone, or waits to be quiet.
bool ArrivingImages::is_settled_again(const fs::path& entry) {
  if (search_.rules == nullptr) return false;
  const StudyAgain again = study_again(take_study_again, entry, folders_.done);
  if (again.is_known()) note_again(again, counts_, progress_);
  return again.is_unchanged() || again.waits;
}

void ArrivingImages::finish(const fs::path& entry, const std::optional<FailureReason>& failed) {
  if (!inbox_.finish(entry, failed))
    progress_.log("an input changed while it was read: what is there is predicted again when it is complete");
}

void ArrivingImages::note_unreadable(const fs::path& entry, const std::optional<FailureReason>& bad) {
  if (bad)
    ++counts_.unreadable, bad_.push_back(failure_of_entry(entry, *bad));
  else if (const std::string name = entry.filename().string(); unreadable_.contains(name))
    readable_.push_back(name);
}

void ArrivingImages::list_unreadable(PredictionBatch& batch, const DatasetSource& source, CaseNamesLog& names) {
  for (const std::string& name : std::exchange(readable_, {}))
    if (const auto entry = unreadable_.extract(name)) batch.outdate(entry.mapped());
  const std::vector<CaseFailure> listed = voxshard::list_unreadable(bad_, batch, source, names);
  for (std::size_t i = 0; i < bad_.size(); ++i) unreadable_[bad_[i].id] = listed[i].id;
  bad_.clear();
}

/// Looks at what is complete now; returns the images to predict, none where nothing with images arrived.
std::vector<fs::path> ArrivingImages::take_arrived() {
  std::size_t without = 0;
  std::map<fs::path, std::vector<fs::path>> fresh;  // images of entries that have just arrived
  for (const fs::path& entry : inbox_.arrived()) {
    throw_if_stopped(progress_);
    if (is_settled_again(entry)) continue;
    EntryImages images = images_of_entry(entry, formats_, search_, progress_);
    counts_.left_alone.add(images.found.left_alone);
    note_unreadable(entry, images.bad);
    without += images.kind == EntryImages::Kind::kNothing;
    if (images.kind == EntryImages::Kind::kLeftAlone || images.kind == EntryImages::Kind::kBad) {
      if (!images.bad) progress_.log("a study of which nothing is predicted moves to the finished ones");
      finish(entry, images.bad);
    }
    if (images.kind != EntryImages::Kind::kImages) continue;
    entries_[entry] = {};
    fresh[entry] = std::move(images.found.images);
  }
  say_without_volume(without, progress_);
  if (const std::size_t closed = inbox_.closed(); std::exchange(closed_, closed) < closed)
    say_closed(closed, progress_);
  std::vector<fs::path> all;
  if (fresh.empty()) return all;
  for (const auto& [entry, state] : entries_) {
    if (state.cases > 0) continue;
    const auto now = fresh.find(entry);
    for (fs::path& image :
         now != fresh.end() ? now->second : images_of_entry(entry, formats_, search_, progress_).found.images)
      all.push_back(std::move(image));
  }
  std::ranges::sort(all);
  return all;
}

std::vector<fs::path> ArrivingImages::wait() {
  while (true) {
    if (const std::size_t deleted = inbox_.expire(); deleted > 0)
      progress_.log(counted_text(deleted, "finished entry", "finished entries") +
                    " deleted: kept for as long as the rules say");
    std::vector<fs::path> images = take_arrived();
    if (!images.empty() || !bad_.empty()) return images;
    for (auto waited = 0ms; waited < kLook; waited += kStopLook) {
      throw_if_stopped(progress_);
      std::this_thread::sleep_for(kStopLook);
    }
  }
}

/// Returns the entry that a file, a volume of an archive or a channel lies in; none for one elsewhere.
std::optional<fs::path> ArrivingImages::entry_of(const fs::path& image) const {
  const fs::path below = file_of_channel(image).lexically_relative(folders_.folder);
  if (below.empty() || *below.begin() == "..") return std::nullopt;
  return folders_.folder / *below.begin();
}

std::set<fs::path> ArrivingImages::entries_of(const Case& item) const {
  std::set<fs::path> entries;
  const auto add = [&](const fs::path& file) {
    if (const auto entry = entry_of(file)) entries.insert(*entry);
  };
  for (const fs::path& image : item.images) add(image);
  try {
    for (const fs::path& file : files_of_case(item, formats_).files) add(file);  // the voxels of a header
  } catch (const Error& e) {
    if (e.kind() != ErrorKind::kInput) throw;  // reading reports it
  }
  return entries;
}

void ArrivingImages::keep_complete(std::vector<Case>& cases, std::vector<CaseFailure>& failures) {
  const auto arrives = [&](const fs::path& image) {
    const auto entry = entry_of(image);
    return entry && !entries_.contains(*entry);
  };
  std::erase_if(cases, [&](const Case& item) { return std::ranges::any_of(item.images, arrives); });
  for (const Case& item : cases) said_.erase(item.id);
  std::erase_if(failures, [&](const CaseFailure& one) { return !said_[one.id].insert(one.message).second; });
}

void ArrivingImages::expect(const std::vector<Case>& cases) {
  used_.clear();
  for (const Case& item : cases) {
    used_[item.images.front()] = entries_of(item);
    for (const fs::path& entry : used_[item.images.front()]) ++entries_[entry].cases;
  }
}

void ArrivingImages::ended(const Case& item, const std::optional<FailureReason>& failed) {
  for (const fs::path& entry : used_[item.images.front()]) {
    Entry& state = entries_[entry];
    if (!state.failed) state.failed = failed;
    if (--state.cases > 0) continue;
    finish(entry, state.failed);
    entries_.erase(entry);
  }
}

std::vector<CaseFailure> list_unreadable(const std::vector<CaseFailure>& by_name, PredictionBatch& batch,
                                         const DatasetSource& source, CaseNamesLog& names) {
  if (by_name.empty()) return {};
  InputCases none{.failures = by_name, .nameless = true};
  name_cases(none, source, names, batch.progress);
  batch.list(none.failures);
  return none.failures;
}

FoundImageFiles images_waiting(const InboxFolders& folders, const ImageSearch& search, const VolumeFormats& formats,
                               Progress& progress, PredictReport& report) {
  ArrivalCounts counts;
  FoundImageFiles all;
  std::size_t without = 0;
  const InboxEntries entries = InboxEntries::of(folders.folder);
  for (const auto& [name, changed_ns] : entries.changed_ns) {
    const fs::path entry = folders.folder / name;
    const double age_s = static_cast<double>(system_clock().wall_ns() - changed_ns) / 1e9;
    if (age_s < folders.quiet_s) {
      ++counts.incomplete;
      continue;
    }
    const StudyAgain again =
        search.rules == nullptr ? StudyAgain{} : study_again(find_study_again, entry, folders.done);
    if (again.is_known()) note_again(again, counts, progress);
    if (again.is_unchanged()) continue;
    EntryImages images = images_of_entry(entry, formats, search, progress);
    counts.left_alone.add(images.found.left_alone);
    without += images.kind == EntryImages::Kind::kNothing;
    if (images.bad) ++counts.unreadable, all.unreadable.push_back(failure_of_entry(entry, *images.bad));
    for (fs::path& image : images.found.images) all.images.push_back(std::move(image));
  }
  say_without_volume(without, progress);
  say_closed(entries.closed.size(), progress);
  if (counts.incomplete > 0)
    progress.log(counted_text(counts.incomplete, "entry", "entries") + " of the inbox not complete yet");
  if (const std::string text = counts.left_alone.text(); !text.empty()) progress.log("in all " + text);
  counts.add_to(report);
  std::ranges::sort(all.images);
  return all;
}

PredictionInputs::PredictionInputs(const PredictOptions& options, bool one_channel, PredictReport& report,
                                   Progress& progress) {
  const auto& reading = options.task.of<VolumeReading>();
  if (!reading.rules.empty()) rules = read_study_rules(reading.rules);
  search = {.best_only = reading.best_series && one_channel,
            .recursive = options.recursive,
            .rules = rules ? &rules->series : nullptr};
  if (!reading.watch) {
    found = find_images(options.input, options.formats, search, progress);
    add_left_out(found, search, report);
    return;
  }
  const InboxFolders folders{.folder = options.input,
                             .done = reading.done,
                             .quiet_s = reading.quiet_s,
                             .keep_days = rules && rules->receive ? rules->receive->keep_days : 0};
  if (rules) progress.log("finished studies are kept " + kept_for(folders.keep_days));
  if (options.dry_run)
    found = images_waiting(folders, search, options.formats, progress, report);
  else
    arriving = folders;
}

}  // namespace voxshard

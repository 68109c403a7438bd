#include "pipelines/tasks/segmentation/prepare_dataset.h"

#include <atomic>
#include <chrono>
#include <functional>
#include <mutex>
#include <nlohmann/json.hpp>
#include <sstream>

#include "io/files/config_file.h"
#include "io/volume/mapped_volume.h"
#include "io/volume/resample.h"
#include "libcore/base/parallel.h"
#include "pipelines/tasks/segmentation/fingerprint.h"
#include "pipelines/tasks/segmentation/prepare_image.h"
#include "pipelines/tasks/segmentation/prepared_dataset.h"
#include "pipelines/tasks/segmentation/source_case.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

/// Sizes and times of the files a case is made of: what changes when somebody replaces one.
Json source_stamp(const Case& item) {
  Json stamp = Json::array();
  const auto add = [&](const fs::path& path) {
    std::error_code error;
    const auto bytes = fs::file_size(path, error);
    const auto time = fs::last_write_time(path, error).time_since_epoch().count();
    stamp.push_back({path.filename().string(), error ? 0 : bytes, error ? 0 : time});
  };
  for (const auto& image : item.images) add(image);
  if (item.label) add(*item.label);
  return stamp;
}

/// What the plan depends on: an earlier plan holds as long as this is the same.
Json request_of(const PrepareOptions& options, const Dataset& dataset) {
  Json cases;
  for (const auto& c : dataset.training) cases[c.id] = source_stamp(c);
  Json clip = options.clip_hu ? Json({options.clip_hu->low, options.clip_hu->high}) : Json(nullptr);
  return {{"spacing", options.spacing},
          {"orientation", options.orientation},
          {"clip_hu", clip},
          {"seed", options.seed},
          {"normalise", normalise_name(options.normalise)},
          {"classes", dataset.label_names},
          {"cases", cases}};
}

std::array<double, 3> oriented_spacing(const Geometry& geometry, const std::string& orientation) {
  PreparePlan plan;
  plan.orientation = orientation;
  return prepared_geometry(geometry, plan).spacing;
}

/// Options whose values need no data set, checked before any file is read.
PreparePlan plan_from_options(const PrepareOptions& options) {
  PreparePlan plan;
  plan.orientation = options.orientation;
  if (options.orientation != "keep")
    reorient({Geometry{.size = {1, 1, 1}}, Tensor(DType::kI32, {1, 1, 1})}, options.orientation);
  plan.normalise = options.normalise;
  plan.clip_hu = options.clip_hu;
  if (plan.clip_hu && !(plan.clip_hu->low < plan.clip_hu->high))
    throw Error(ErrorKind::kUsage, "[prepare] {clip} needs LOW,HIGH with LOW below HIGH");
  if (options.spacing != "keep" && options.spacing != "median") {
    const auto mm = parse_numbers(options.spacing, 3, "{spacing}");
    for (double s : mm)
      if (!(s > 0)) throw Error(ErrorKind::kUsage, "[prepare] {spacing} must be positive; got " + options.spacing);
    plan.spacing_mm = {mm[0], mm[1], mm[2]};
  }
  return plan;
}

void complete_plan(PreparePlan& plan, const PrepareOptions& options, const std::vector<CaseFingerprint>& cases) {
  if (options.spacing == "median") {
    std::vector<std::array<double, 3>> spacings;
    for (const auto& c : cases) spacings.push_back(oriented_spacing(c.geometry, plan.orientation));
    plan.spacing_mm = median_spacing(spacings);
  }
  const Fingerprint pooled = pool_fingerprints(cases);
  if (plan.normalise == Normalise::kCt) {
    if (pooled.cases_with_foreground == 0)
      throw Error(ErrorKind::kNoCase, "[prepare] no case has a foreground voxel, so `{normalise} ct` has no numbers; " +
                                          std::string("use window, zscore or none"));
    if (plan.clip_hu) {  // a window of the user's: centre what is left of the foreground in it
      const HuMoments clipped = clipped_moments(cases, *plan.clip_hu);
      plan.mean_hu = clipped.mean_hu, plan.std_hu = clipped.std_hu;
    } else {  // nnU-Net's rule: percentiles, with mean and std of the unclipped foreground
      plan.clip_hu = Range{pooled.percentile_00_5_hu, pooled.percentile_99_5_hu};
      plan.mean_hu = pooled.mean_hu, plan.std_hu = pooled.std_hu;
    }
  } else if (plan.normalise == Normalise::kWindow) {
    if (!plan.clip_hu) plan.clip_hu = Range{-160, 240};
    plan.mean_hu = (plan.clip_hu->low + plan.clip_hu->high) / 2,
    plan.std_hu = (plan.clip_hu->high - plan.clip_hu->low) / 2;
  }
}

/// The four files of one case; cases/ID.json comes last and says that the others are whole.
Json prepare_case(const Case& item, const PreparePlan& plan, const PrepareOptions& options, const Progress& progress) {
  const SourceCase source = read_source_case(item, plan.classes(), options.formats);
  throw_if_stopped(progress);
  const PreparedImage image = prepare_image(source.image, plan);
  throw_if_stopped(progress);
  const Volume label = prepare_label(source.label, plan);
  ensure(same_geometry(image.image.geometry, label.geometry), "image and label share the prepared grid");
  const ForegroundVoxels voxels = sample_foreground(label.voxels, plan.classes(), item.id, options.seed);
  std::vector<std::int64_t> class_voxels(plan.classes(), 0);
  for (std::int64_t i = 0; i < label.voxels.count(); ++i) ++class_voxels[label.voxels.as<std::int32_t>()[i]];

  throw_if_stopped(progress);
  const fs::path& work = options.work;
  write_volume(prepared_image(work, item.id), image.image, DiskType::kF32);
  write_volume(prepared_label(work, item.id), label, plan.classes() <= 256 ? DiskType::kU8 : DiskType::kI16);
  save_foreground(work / "foreground" / (item.id + ".safetensors"), voxels);
  const Shape shape = label.voxels.shape();
  Json record = {{"case", item.id},
                 {"shape", {shape[0], shape[1], shape[2]}},
                 {"spacing_mm", label.geometry.spacing},
                 {"mean_hu", image.mean_hu},
                 {"std_hu", image.std_hu},
                 {"class_voxels", class_voxels},
                 {"plan", plan_hash(plan)},
                 {"seed", options.seed},
                 {"source", source_stamp(item)},
                 {"image_bytes", fs::file_size(prepared_image(work, item.id))},
                 {"label_bytes", fs::file_size(prepared_label(work, item.id))}};
  write_json(work / "cases" / (item.id + ".json"), record);
  return record;
}

/// The record of a case that an earlier run finished with the same plan from the same files, else none.
std::optional<Json> finished_case(const Case& item, const PreparePlan& plan, const PrepareOptions& options) {
  const fs::path& work = options.work;
  const fs::path path = work / "cases" / (item.id + ".json");
  if (!fs::exists(path)) return std::nullopt;
  try {
    const Json record = Json::parse(read_json(path).dump());
    std::error_code error;
    const bool same = record.at("plan") == plan_hash(plan) && record.at("seed") == options.seed &&
                      record.at("source") == source_stamp(item) &&
                      record.at("image_bytes") == fs::file_size(prepared_image(work, item.id), error) &&
                      record.at("label_bytes") == fs::file_size(prepared_label(work, item.id), error) &&
                      fs::exists(work / "foreground" / (item.id + ".safetensors"));
    if (same && !error) return record;
  } catch (const std::exception&) {  // a torn or foreign record: prepare the case again
  }
  return std::nullopt;
}

/// One pass over the cases in parallel, each in its own error boundary.
class Pass {
 public:
  Pass(const char* stage, const std::vector<Case>& cases, int threads, Progress& progress)
      : stage_(stage), cases_(cases), threads_(threads), progress_(progress) {}

  /// Returns for each case whether `body(index)` came to its end.
  std::vector<char> run(const std::function<void(std::int64_t)>& body) {
    std::vector<char> good(cases_.size(), 0);
    std::vector<std::vector<CaseFailure>> failures(cases_.size());
    std::atomic<std::int64_t> done{0};
    const auto total = static_cast<std::int64_t>(cases_.size());
    WorkerPool pool(threads_);
    progress_.update(stage_, 0, total, "");
    pool.run(total, [&](std::int64_t i, int) {
      try {
        throw_if_stopped(progress_);
        good[i] = in_case_boundary(cases_[i].id, failures[i], [&] { body(i); });
      } catch (const Stopped&) {  // the case is left to the next run
        return;
      }
      progress_.update(stage_, ++done, total, cases_[i].id);
    });
    for (auto& list : failures)
      for (auto& f : list) {
        progress_.log("case " + f.id + ": " + f.code + " " + f.message + " [quarantined]");
        failures_.push_back(std::move(f));
      }
    return good;
  }
  const std::vector<CaseFailure>& failures() const { return failures_; }

 private:
  const char* stage_;
  const std::vector<Case>& cases_;
  int threads_;
  Progress& progress_;
  std::vector<CaseFailure> failures_;
};

[[noreturn]] void throw_no_case(const PrepareOptions& options, const std::vector<CaseFailure>& failures) {
  write_quarantine(options.work, failures);
  std::string text = "[prepare] no usable case in " + options.dataset.string() + ": " +
                     std::to_string(failures.size()) + " failed, listed in " +
                     (options.work / "quarantine.csv").string();
  if (!failures.empty()) text += "; the first: case " + failures[0].id + ": " + failures[0].message;
  throw Error(ErrorKind::kNoCase, text);
}

std::optional<PreparePlan> earlier_plan(const fs::path& work, const Json& request) {
  try {
    if (!fs::exists(work / "plans.json")) return std::nullopt;
    if (Json::parse(read_json(work / "plans.json").dump()).at("request") != request) return std::nullopt;
    return read_plan(work / "plans.json");
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

}  // namespace

std::vector<double> parse_numbers(const std::string& text, std::size_t count, const std::string& option) {
  std::vector<double> values;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, ',');) {
    std::size_t used = 0;
    try {
      values.push_back(std::stod(part, &used));
    } catch (const std::exception&) {
      used = std::string::npos;
    }
    if (used != part.size()) values.clear(), in.setstate(std::ios::failbit);
  }
  if (values.size() != count)
    throw Error(ErrorKind::kUsage, "[usage] " + option + " is \"" + text + "\"; expected " + std::to_string(count) +
                                       " numbers with commas between them");
  return values;
}

PrepareReport prepare_dataset(const PrepareOptions& options, Progress& progress) {
  const auto start = std::chrono::steady_clock::now();
  PreparePlan plan = plan_from_options(options);
  const Dataset dataset = read_source_dataset(options.dataset);
  plan.channels = dataset.channels;
  plan.class_names = dataset.label_names;
  for (const char* part : {"images", "labels", "foreground", "cases"}) make_output_folder(options.work / part);

  std::vector<CaseFailure> missing;
  for (const auto& p : dataset.problems) missing.push_back({p.id, "E_MISSING", p.reason});
  for (const auto& f : missing) progress.log("case " + f.id + ": " + f.code + " " + f.message + " [quarantined]");
  if (dataset.training.empty()) throw_no_case(options, missing);

  PrepareReport report;
  report.work = options.work;
  const Json request = request_of(options, dataset);
  std::vector<char> usable(dataset.training.size(), 1);
  std::vector<CaseFailure> failures = missing;
  const auto known = options.resume ? earlier_plan(options.work, request) : std::nullopt;
  if (known) {
    plan = *known;
  } else {
    Pass pass("fingerprint", dataset.training, options.threads, progress);
    std::vector<CaseFingerprint> all(dataset.training.size()), good;
    usable = pass.run([&](std::int64_t i) {
      const SourceCase source = read_source_case(dataset.training[i], plan.classes(), options.formats);
      all[i] = take_fingerprint(dataset.training[i].id, source.image, source.label, plan.classes());
    });
    if (progress.stop_requested()) return report.interrupted = true, report;
    failures.insert(failures.end(), pass.failures().begin(), pass.failures().end());
    for (std::size_t i = 0; i < all.size(); ++i)
      if (usable[i]) good.push_back(std::move(all[i]));
    if (good.empty()) throw_no_case(options, failures);
    complete_plan(plan, options, good);
    write_json(options.work / "fingerprint.json", to_json(pool_fingerprints(good), good, plan.class_names));
    write_json(options.work / "plans.json", {{"prepare", to_json(plan)}, {"request", request}});
  }

  std::vector<Case> cases;
  for (std::size_t i = 0; i < usable.size(); ++i)
    if (usable[i]) cases.push_back(dataset.training[i]);
  std::vector<Json> records(cases.size());
  std::atomic<int> skipped{0};
  Pass pass("prepare", cases, options.threads, progress);
  const auto good = pass.run([&](std::int64_t i) {
    if (auto record = options.resume ? finished_case(cases[i], plan, options) : std::nullopt) {
      records[i] = std::move(*record);
      ++skipped;
    } else {
      records[i] = prepare_case(cases[i], plan, options, progress);
    }
  });
  failures.insert(failures.end(), pass.failures().begin(), pass.failures().end());
  report.plan = plan, report.skipped = skipped, report.failures = failures;
  Json listed = Json::array();
  for (std::size_t i = 0; i < good.size(); ++i)
    if (good[i]) listed.push_back(std::move(records[i]));
  report.prepared = static_cast<int>(listed.size()) - report.skipped;
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (progress.stop_requested()) return report.interrupted = true, report;
  if (listed.empty()) throw_no_case(options, failures);

  write_quarantine(options.work, failures);
  Json labels, channels;
  for (int c = 0; c < plan.classes(); ++c) labels[plan.class_names[c]] = c;
  for (std::size_t c = 0; c < plan.channels.size(); ++c) channels[std::to_string(c)] = plan.channels[c];
  write_json(options.work / "run.json",
             {{"command", "prepare"}, {"version", VOXSHARD_VERSION}, {"dataset", fs::absolute(options.dataset).string()}, {"report", to_json(report)}});
  write_json(options.work / "dataset.json", {{"name", dataset.name},
                                             {"channel_names", channels},
                                             {"labels", labels},
                                             {"numTraining", listed.size()},
                                             {"file_ending", kMappedEnding},
                                             {"cases", listed}});
  return report;
}

Json to_json(const PrepareReport& report) {
  return {{"work", report.work.string()},      {"plan", to_json(report.plan)},
          {"prepared", report.prepared},       {"skipped", report.skipped},
          {"failed", report.failures.size()},  {"failures", to_json(report.failures)},
          {"interrupted", report.interrupted}, {"seconds", report.seconds}};
}

}  // namespace voxshard

#include "pipelines/tasks/segmentation/prepare_dataset.h"

#include <atomic>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "io/files/config_file.h"
#include "io/files/content_hash.h"
#include "io/files/file_name.h"
#include "io/files/output_folder.h"
#include "io/volume/mapped_volume.h"
#include "io/volume/resample.h"
#include "libcore/base/stopwatch.h"
#include "pipelines/tasks/segmentation/case_memory.h"
#include "pipelines/tasks/segmentation/case_pass.h"
#include "pipelines/tasks/segmentation/fingerprint.h"
#include "pipelines/tasks/segmentation/prepare_image.h"
#include "pipelines/tasks/segmentation/prepare_sources.h"
#include "pipelines/tasks/segmentation/prepared_dataset.h"
#include "pipelines/tasks/segmentation/source_case.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

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
  plan.clip_hu = options.clip_hu;
  if (plan.clip_hu && !(plan.clip_hu->low < plan.clip_hu->high))
    throw Error(ErrorKind::kUsage, "[prepare] {clip} needs LOW,HIGH with LOW below HIGH");
  if (options.spacing != "keep" && options.spacing != "median") {
    const auto mm = parse_numbers(options.spacing, 3, "{spacing}");
    for (double s : mm)
      if (!(s >= kLeastSpacingMm && s <= kMostSpacingMm))
        throw Error(ErrorKind::kUsage,
                    "[prepare] {spacing} must be positive, from 0.001 to 10000 mm; got " + options.spacing);
    plan.spacing_mm = {mm[0], mm[1], mm[2]};
  }
  return plan;
}

/// How the channel is normalised: what was asked for, else as nnU-Net does by the channel's name.
Normalise choose_normalise(const PrepareOptions& options, const Dataset& dataset, Progress& progress) {
  const std::string& channel = dataset.channels.front();
  if (!options.normalise) {
    const Normalise chosen = normalise_of_channel(channel);
    if (chosen != Normalise::kCt)
      progress.log("channel \"" + shown_name(channel) + "\" is no CT: normalised by " + normalise_name(chosen));
    return chosen;
  }
  if (*options.normalise == Normalise::kCt && !is_ct_channel(channel))
    progress.log("channel \"" + shown_name(channel) +
                 "\" is no CT, but is normalised as one because {normalise} ct says so");
  return *options.normalise;
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

/// The four files of one case. The image is written and gone before the label is prepared: memory holds one of them.
Json prepare_case(const Case& item, const PreparePlan& plan, const PrepareOptions& options, const Progress& progress) {
  SourceCase source = read_source_case(item, plan.classes(), options.formats, plan.ignore_label);
  throw_if_stopped(progress);
  PreparedImage image = prepare_image(std::move(source.image), plan);
  throw_if_stopped(progress);
  const fs::path& work = options.work;
  write_volume(prepared_image(work, item.id), image.image, DiskType::kF32);
  image.image.voxels = {};
  const Volume label = prepare_label(std::move(source.label), plan);
  ensure(same_geometry(image.image.geometry, label.geometry), "image and label share the prepared grid");
  const ForegroundVoxels voxels = sample_foreground(label.voxels, plan.classes(), item.id, options.seed);
  std::vector<std::int64_t> class_voxels(plan.classes(), 0);
  for (std::int64_t i = 0; i < label.voxels.count(); ++i)
    if (const std::int32_t c = label.voxels.as<std::int32_t>()[i]; c < plan.classes()) ++class_voxels[c];

  write_volume(prepared_label(work, item.id), label,
               plan.classes() + (plan.ignore_label ? 1 : 0) <= 256 ? DiskType::kU8 : DiskType::kI16);
  save_foreground(prepared_foreground(work, item.id), voxels);
  const Shape shape = label.voxels.shape();
  Json record = {{"case", item.id},
                 {"shape", {shape[0], shape[1], shape[2]}},
                 {"spacing_mm", label.geometry.spacing},
                 {"mean_hu", image.mean_hu},
                 {"std_hu", image.std_hu},
                 {"class_voxels", class_voxels}};
  write_json(prepared_record(work, item.id), record);
  return record;
}

[[noreturn]] void throw_no_case(OutputFolder& work, const PrepareOptions& options,
                                const std::vector<CaseFailure>& failures) {
  work.claim();
  write_quarantine(options.work, failures);
  std::string text = "[prepare] no usable case in " + options.dataset.string() + ": " +
                     std::to_string(failures.size()) + " failed, listed in " +
                     (options.work / "quarantine.csv").string();
  if (!failures.empty()) text += "; the first: case " + failures[0].id + ": " + failures[0].message;
  throw Error(ErrorKind::kNoCase, text);
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
  const Stopwatch watch;
  PreparePlan plan = plan_from_options(options);
  const FolderLock reading = FolderLock::reading(options.dataset);
  const Dataset dataset = read_source_dataset(options.dataset);
  plan.channels = dataset.channels;
  plan.normalise = choose_normalise(options, dataset, progress);
  plan.class_names = dataset.label_names;
  plan.ignore_label = dataset.ignore_label;
  OutputFolder work({.folder = options.work, .command = "prepare", .inputs = inputs_of(dataset)});

  std::vector<CaseFailure> missing;
  for (const auto& p : dataset.problems) missing.push_back({p.id, p.code, p.reason});
  for (const auto& f : missing) progress.log("case " + f.id + ": " + f.code + " " + f.message + " [quarantined]");
  if (dataset.training.empty()) throw_no_case(work, options, missing);

  PrepareReport report;
  report.work = options.work;
  MemoryGate gate(options.formats.limits.memory_bytes);
  std::vector<char> usable(dataset.training.size(), 1);
  std::vector<CaseFailure> failures = missing;
  std::vector<Json> sources(dataset.training.size());
  std::vector<std::vector<CaseFailure>> warnings(dataset.training.size());
  const auto look_at = [&](std::int64_t i) {
    sources[i] = source_hashes(dataset.training[i]);
    warnings[i] = source_warnings(dataset.training[i], options.formats);
  };
  if (options.resume)
    CasePass("compare", dataset.training, options.threads, gate, progress).run([](std::int64_t) { return ProcessPlan(); }, look_at);
  if (progress.stop_requested()) return report.interrupted = true, report;
  const auto known =
      options.resume ? earlier_plan(options.work, request_of(options, dataset, sources)) : std::nullopt;
  Json fingerprint;
  if (known) {
    plan = *known;
  } else {
    CasePass pass("fingerprint", dataset.training, options.threads, gate, progress);
    std::vector<CaseFingerprint> all(dataset.training.size()), good;
    const auto need = [&](std::int64_t i) {
      if (!options.resume) look_at(i);
      return reading_case_plan(dataset.training[i], options.formats);
    };
    usable = pass.run(need, [&](std::int64_t i) {
      const SourceCase source =
          read_source_case(dataset.training[i], plan.classes(), options.formats, plan.ignore_label);
      all[i] = take_fingerprint(dataset.training[i].id, source.image, source.label, plan.classes());
    });
    if (progress.stop_requested()) return report.interrupted = true, report;
    failures.insert(failures.end(), pass.failures().begin(), pass.failures().end());
    for (std::size_t i = 0; i < all.size(); ++i)
      if (usable[i]) good.push_back(std::move(all[i]));
    if (good.empty()) throw_no_case(work, options, failures);
    complete_plan(plan, options, good);
    fingerprint = to_json(pool_fingerprints(good), good, plan.class_names);
  }
  for (std::size_t i = 0; i < warnings.size(); ++i)
    for (CaseFailure& w : warnings[i]) {
      if (!usable[i]) continue;
      progress.warn("case " + w.id + ": " + w.code + " " + w.message);
      report.warnings.push_back(std::move(w));
    }
  work.start({.options = options_hash(plan, options), .parts = part_names(dataset), .resume = options.resume});
  for (const char* part : {"images", "labels", "foreground", "cases"}) make_output_folder(options.work / part);
  const Json request = request_of(options, dataset, sources);
  const std::string data = content_hash(request.dump());
  if (!fingerprint.is_null()) {
    work.begin(kFingerprintPart, {"fingerprint.json"});
    write_json(options.work / "fingerprint.json", fingerprint);
    work.commit(kFingerprintPart, data);
  }
  if (!work.holds(kPlansPart, data)) {
    work.begin(kPlansPart, {"plans.json"});
    write_json(options.work / "plans.json", {{"prepare", to_json(plan)}, {"request", request}});
    work.commit(kPlansPart, data);
  }

  std::vector<Case> cases;
  std::vector<std::string> made_of;
  for (std::size_t i = 0; i < usable.size(); ++i)
    if (usable[i]) cases.push_back(dataset.training[i]), made_of.push_back(content_hash(sources[i].dump()));
  std::vector<Json> records(cases.size());
  std::atomic<int> skipped{0};
  CasePass pass("prepare", cases, options.threads, gate, progress);
  std::vector<char> finished(cases.size(), 0);
  const auto need = [&](std::int64_t i) {
    finished[i] = work.holds(case_part(cases[i].id), made_of[i]);
    return finished[i] ? ProcessPlan() : preparing_case_plan(cases[i], plan, options.formats);
  };
  const auto good = pass.run(need, [&](std::int64_t i) {
    const Case& item = cases[i];
    const std::string part = case_part(item.id);
    if (finished[i]) {
      records[i] = read_json(prepared_record(options.work, item.id));
      ++skipped;
      return;
    }
    work.begin(part, case_files(item.id));
    records[i] = prepare_case(item, plan, options, progress);
    work.commit(part, made_of[i]);
  });
  failures.insert(failures.end(), pass.failures().begin(), pass.failures().end());
  report.memory = gate.widest();
  report.plan = plan, report.skipped = skipped, report.failures = failures;
  Json listed = Json::array();
  for (std::size_t i = 0; i < good.size(); ++i)
    if (good[i]) listed.push_back(std::move(records[i]));
  report.prepared = static_cast<int>(listed.size()) - report.skipped;
  report.seconds = watch.seconds();
  if (progress.stop_requested()) return report.interrupted = true, report;
  if (listed.empty()) throw_no_case(work, options, failures);

  write_quarantine(options.work, failures);
  Json labels, channels;
  for (int c = 0; c < plan.classes(); ++c) labels[plan.class_names[c]] = c;
  if (plan.ignore_label) labels["ignore"] = *plan.ignore_label;
  for (std::size_t c = 0; c < plan.channels.size(); ++c) channels[std::to_string(c)] = plan.channels[c];
  write_json(options.work / "run.json",
             {{"command", "prepare"}, {"version", VOXSHARD_VERSION}, {"dataset", fs::absolute(options.dataset).string()}, {"report", to_json(report)}});
  work.begin(kDatasetPart, {"dataset.json"});
  write_json(options.work / "dataset.json", {{"name", dataset.name},
                                             {"channel_names", channels},
                                             {"labels", labels},
                                             {"numTraining", listed.size()},
                                             {"file_ending", kMappedEnding},
                                             {"cases", listed}});
  work.commit(kDatasetPart, data);
  return report;
}

Json to_json(const PrepareReport& report) {
  return {{"work", report.work.string()},
          {"plan", to_json(report.plan)},
          {"prepared", report.prepared},
          {"skipped", report.skipped},
          {"failed", report.failures.size()},
          {"failures", to_json(report.failures)},
          {"warnings", to_json(report.warnings)},
          {"interrupted", report.interrupted},
          {"seconds", report.seconds}};
}

}  // namespace voxshard

// Readers of what earlier calls left in folders: manifests, locks, metrics, prepared cases, checkpoints' descriptions.
// Others may have written them too.
#include <nlohmann/json.hpp>

#include "io/audit/audit_chain.h"
#include "io/audit/audit_log.h"
#include "io/audit/sha256.h"
#include "io/datasets/class_list.h"
#include "io/files/config_file.h"
#include "io/files/safetensors.h"
#include "io/files/secret_file.h"
#include "io/output/folder_lock.h"
#include "io/output/manifest.h"
#include "libcore/base/file_format.h"
#include "pipelines/commands/golden_case.h"
#include "pipelines/commands/run_status.h"
#include "pipelines/model_runs/checkpoint.h"
#include "pipelines/model_runs/run_preparation.h"
#include "pipelines/model_runs/run_record.h"
#include "pipelines/report_page/report_page.h"
#include "pipelines/report_page/slices_section.h"
#include "pipelines/report_page/validation_detail.h"
#include "pipelines/tasks/classification/samples/class_preparation.h"
#include "pipelines/tasks/classification/scores/class_predictions.h"
#include "pipelines/tasks/classification/scores/evaluate_clips.h"
#include "pipelines/tasks/detection/samples/image_preparation.h"
#include "pipelines/tasks/segmentation/dataset/fingerprint_summary.h"
#include "pipelines/tasks/segmentation/quality/quality_ranges.h"
#include "pipelines/tasks/segmentation/samples/sample_source.h"
#include "pipelines/training/metrics_log.h"
#include "pipelines/training/run_identity.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/scratch_folder.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;
using Seeds = std::vector<std::string>;

void manifest(std::string_view bytes) {
  const fs::path folder = scratch_file(std::string("made/") + kManifestName, bytes).parent_path();
  if (const auto read = read_manifest(folder))
    for (const auto& [name, part] : read->parts)
      for (const auto& [path, file] : part.files) is_unchanged(folder / path, file);
}
Seeds manifest_seeds() {
  return {head_line({.command = "prepare", .options = "6f0c", .parts = {}}).dump() + R"(
{"begin":"case_3","files":["images/case_3.nii"]}
{"part":"case_3","options":"6f0c","data":"11d2","files":{"manifest.jsonl":{"bytes":9603,"hash":"00","time_ns":1}}}
{"part":"torn)"};
}

/// The note of the process that holds a folder, which the error of the next process quotes.
void lock_note(std::string_view bytes) {
  const fs::path folder = scratch_file("locked/a", "").parent_path();
  static const FolderLock held = FolderLock::writing(folder, "train");
  scratch_file("locked/.voxshard.lock", bytes);
  bool kept_out = false;
  try {
    FolderLock::writing(folder, "train");
  } catch (const Error& e) {
    kept_out = e.kind() == ErrorKind::kOutput;
  }
  ensure(kept_out, "whatever the note says, the folder is in use");
  ensure(folder_writer(folder).lock == FolderWriter::Lock::kHeld, "and is seen to be");
}
Seeds lock_seeds() { return {"1 train", "1 train node1", "", "999999999999 prepare", "-1", "1\n\x1b[2J"}; }

/// The lines of a training, as `status` reads them while it runs or after it was killed, and as a run that goes on
/// keeps them.
void metrics(std::string_view bytes) {
  const fs::path run = scratch_file(std::string("watched/") + kMetricsName, bytes).parent_path();
  const RecentMetrics recent = read_recent_metrics(run);
  longest_silence_s(recent);
  MetricsLog log(run, {.steps_done = 3});
  log.add(StepMetrics{.step = 4});
  const auto last = read_recent_metrics(run).last;
  ensure(last && last->step == 4, "what is appended is read back");
  ensure(read_recent_metrics(run).damaged == 0, "other lines are not kept");
}
Seeds metrics_seeds() {
  return {
      R"({"step":1,"loss":2.5,"gradient_norm":1,"learning_rate":0.01,"seconds":0.5,"time":1764060286.12}
{"step":2,"loss":null,"gradient_norm":1e3,"learning_rate":0,"seconds":0.5,"time":1764060286.5}
{"step":2,"validation":"dice","score":0.25,"by_class":[0.5,null],"averaged":0.5,"seconds":0.5,"time":1764060287}
{"step":3,"lo)"};
}

/// The description of a run, as `status` reads it.
void status(std::string_view bytes) { to_text(run_status(scratch_file("described/run.json", bytes).parent_path())); }
Seeds status_seeds() {
  return {
      R"({"format":"voxshard 2","options":{},"recipe":[],"model":{},"training":{"steps":9},"saved_checkpoints":true,"ranks":2,
"report":{"steps":4,"interrupted":true}})"};
}

PreparePlan small_plan() {
  PreparePlan plan{.class_names = {"background", "liver"}};
  plan.spacing_mm = {1, 1, 1};
  return plan;
}

/// Opens a work folder of one case of 2 x 3 x 4 voxels, as `prepare` leaves it, with this list of cases and these
/// voxels of the classes, as training does, and draws two samples.
void open_prepared(std::string_view list, std::string_view voxels) {
  static const fs::path folder = [] {
    const fs::path plans = scratch_file(
        "work/plans.json", R"({"request": {"cases": {"a": []}}, "prepare": )" + to_json(small_plan()).dump() + "}");
    const fs::path work = plans.parent_path();
    for (const char* name : {"images/a.nii", "labels/a.nii"}) {
      const bool label = name[0] == 'l';
      Volume volume{.geometry = {.size = {4, 3, 2}}, .voxels = Tensor(label ? DType::kI32 : DType::kF32, {2, 3, 4})};
      scratch_file(std::string("work/") + name, "");
      write_volume(work / name, volume, label ? DiskType::kU8 : DiskType::kF32);
    }
    scratch_file("work/cases/a.json", "{}");
    return work;
  }();
  scratch_file("work/dataset.json", list);
  scratch_file("work/foreground/a.safetensors", voxels);
  const auto part = [](const std::string& name, const std::set<std::string>& files) {
    ManifestPart about{.options = "o", .data = "d", .files = {}, .whole = true};
    for (const std::string& file : files) about.files[file] = manifest_file(folder / file);
    return part_line(name, about).dump() + "\n";
  };
  scratch_file(std::string("work/") + kManifestName,
               head_line({.command = "prepare", .options = "o", .parts = {}}).dump() + "\n" +
                   part(kPlansPart, {"plans.json"}) + part(kDatasetPart, {"dataset.json"}) +
                   part(case_part("a"), case_files("a")));

  const PreparedDataset dataset = read_prepared(folder);
  const SampleSource source(dataset, {0}, {.crop = {2, 2, 2}, .foreground = 1});
  for (std::int64_t step = 0; step < 2; ++step) {
    const std::vector<Sample> batch = source.batch(step, 1);
    Shape shape = source.extents(batch);
    shape.push_back(1);
    source.fill(batch, input::Image{}, Tensor(DType::kF32, shape).view());
    source.fill(batch, input::Labels{}, Tensor(DType::kI32, shape).view());
  }
}

Seeds prepared_seeds() {
  return {R"({"name": "x", "cases": [{"case": "a", "shape": [2, 3, 4], "class_voxels": [20, 4]}]})"};
}
Seeds foreground_seeds() {
  Tensor voxels(DType::kI32, {2, 3});
  for (std::int64_t i = 0; i < 6; ++i) voxels.as<std::int32_t>()[i] = static_cast<std::int32_t>(i % 2);
  const fs::path path = scratch_file("seed_foreground.safetensors", "");
  save_foreground(path, {.by_class = {Tensor(), voxels}});
  const std::string plain =  // without hashes, as by other tools: damage reaches the parser
      R"({"class_1":{"dtype":"I32","shape":[2,3],"data_offsets":[0,24]}}      )";
  return {read_bytes(path),
          std::string(1, static_cast<char>(plain.size())) + std::string(7, '\0') + plain + std::string(24, '\0')};
}
void prepared(std::string_view bytes) { open_prepared(bytes, foreground_seeds()[0]); }
void foreground(std::string_view bytes) { open_prepared(prepared_seeds()[0], bytes); }

/// The description in a checkpoint, behind hashes that are right: the model, the preparation, and whether a run can be
/// resumed from it.
void description(std::string_view bytes) {
  const fs::path path = scratch_file("described.safetensors", "");
  save_safetensors(path, std::vector<NamedView>{}, {{"voxshard", std::string(bytes)}});
  const CheckpointState state = load_checkpoint(path).state;
  machine_changes(state.machine, machine_json());
  model_spec_from_json(state.model);
  if (state.prepare.contains("classes"))
    image_preparation_from_json(state.prepare);
  else
    quality_ranges_of(state.prepare, plan_from_json(state.prepare).class_names.size(), 1);
  CheckpointState mine = state;
  mine.training = {{"steps", 9}, {"seed", 1}};
  require_same_run(state, mine, path, false);
}
Seeds description_seeds() {
  const auto text = [](const nlohmann::ordered_json& prepare) {
    return nlohmann::ordered_json{{"format", kFileFormat},
                                  {"model", to_json(ModelSpec{})},
                                  {"prepare", prepare},
                                  {"training", {{"steps", 5}, {"seed", 1}}},
                                  {"content", {{"a", "11d2"}}},
                                  {"trained_on", {{"count", 0}, {"keys", ""}}},
                                  {"machine", {{"processor", "x"}}},
                                  {"step", 4},
                                  {"best_score", 0.5},
                                  {"unvalidated", {0.5, 1, 1e-3, 2}}}
        .dump();
  };
  nlohmann::ordered_json judging = to_json(small_plan());
  QualityRanges usual{.cases = 9, .least_view_mm = {90, 80, 70}};
  usual.classes = {{}, {.cases = 9, .always = true, .log_ml = {1, 0.2}, .parts = 2, .least_part_ml = 0.5}};
  usual.channels = {{.usual = Quantiles(kQuantiles, 1.5f), .usual_distance = 0.1, .most_distance = 0.3}};
  judging[kUsualCases] = to_json(usual);
  return {text(to_json(small_plan())), text(to_json(ImagePreparation{.classes = {{"cell", 1}}})), text(judging)};
}

/// Lists of files with a class each, as other tools write them.
void class_list(std::string_view bytes) { read_class_list(scratch_file("classes/list.csv", bytes)); }
Seeds class_list_seeds() {
  return {"file,class\r\na/1.png,red\n\"b, c.png\",\"say \"\"x\"\"\"\n", "a.png,red\n../x.png,blue\n\n",
          "file,start,end,class\na.mp4,0,1.5,left\na.mp4,1.5,2e3,up\na.mp4,1,2,up\nb.mp4,,1,up\n"};
}

/// Scores the predictions of a classifier: time lines against clips everywhere in the videos that they name.
void scored(const ClassPredictions& found) {
  if (found.items != ItemKind::kClip || found.rows.size() > 100) return;
  ClassDataset truth;
  for (const ClassPrediction& row : found.rows)
    for (const std::int64_t first : {0, 3, 8, 1000})
      truth.items.push_back({.name = row.file, .index = first, .label = static_cast<std::int32_t>(first % 2)});
  std::vector<CaseFailure> failures;
  const Classified clips = matched_clips(found, truth, failures);
  accuracy(clips);
  roc_auc(clips, 0);
}

void class_predictions(std::string_view bytes) {
  const fs::path file = scratch_file("classes/found.json", bytes);
  if (class_predictions_file().is_ours(file)) scored(read_class_predictions(file));
  class_preparation_from_json(read_json(file));
}
Seeds class_predictions_seeds() {
  const fs::path file = scratch_file("classes/seed.json", "");
  write_class_predictions(file, {.classes = {"a", "b"}, .rows = {{"1.png", {0.25, 0.75}}, {"b/2.png", {1, 0}}}});
  return {
      read_bytes(file), to_json(ClassPreparation{.classes = {"a", "b"}, .size = {28, 28}}).dump(),
      R"({"task":"classification","classes":["a","b"],"items":"clips","clip_length":4,"clip_stride":2,"hop":4,"predictions":[
{"file":"a.mp4","frames":12,"seconds":0.48,"time_base":"1/25","windows":[
 {"frames":[0,8],"pts":[0,8],"seconds":[0.0,0.32],"class":"a","probabilities":[0.75,0.25]},
 {"frames":[4,12],"pts":[4,12],"seconds":[0.16,0.48],"class":"b","probabilities":[0.25,0.75]}],"intervals":[
 {"frames":[0,4],"pts":[0,4],"seconds":[0.0,0.16],"class":"a","probability":0.75},
 {"frames":[4,12],"pts":[4,12],"seconds":[0.16,0.48],"class":"b","probability":0.625}],"repeated_frames":0,"notes":[],"complete":true,"class":"a","probabilities":[0.5,0.5]}
]})"};
}

/// The page of a run whose last validation, slices or fingerprint, or that of whose data, are these bytes.
void run_page(std::string_view bytes) {
  const fs::path run = scratch_file(std::string("shown/") + kLastDetailFile, bytes).parent_path();
  scratch_file(std::string("shown/") + kSlicesFile, bytes);
  RunData data{
      .classes = {"a"}, .validations = {{.step = 4, .weights = kLastWeights, .by_class = {0.5}}}, .best_at = 0};
  data.last_detail = read_detail(run / kLastDetailFile, data.last());
  data.slices = read_slices(run);
  scratch_file(std::string("shown/") + kFingerprintFile, bytes);
  data.facts["fingerprint"] = nlohmann::ordered_json(read_json(run / kFingerprintFile));
  report_page(std::vector{data});
  write_fingerprint_summary(run, {"background", "a"}, run);
}
Seeds run_page_seeds() {
  return {
      R"({"step":4,"weights":"last","cases":2,"size":{"least":[1,2,3],"median":[1.5,2,3],"most":[2,2,3]},"spacing_mm":{"least":[1]},"orientations":{"LPS":2},"classes":[{"name":"a","cases":1,"share_of_voxels":0.25}],"foreground_hu":{"mean":-3.5},"foreground_by_channel":[{"channel":"CT","values":{"mean":1}}],"per_case":[{"case":"x","size":[2,2,3],"spacing_mm":[1,1,1.5],"orientation":"LPS","voxels":{"background":9,"a":3}}]})",
      R"({"step":4,"weights":"last","kind":"detection","items":2,"curves":{"recall":[0,0.5,1],"all":[1,0.5,0],"by_class":[[1,0.5,0],null]},
"operating_point":{"score":0.5,"recall":0.5,"precision":1,"f1":0.5,"found":3,"wrong":1,"missed":3},"classes":[{"class":"a","items":6,"found":4,"recall":0.5,"precision":0.75,"f1":0.6},{"class":"b","items":0,"found":0,"recall":null}],
"confusion":[[3,0,3],[0,0,0],[1,0,0]],"mistakes":[{"true":0,"found":null,"items":3}],"worst":[{"item":"b.png","ap50":0.25,"objects":4}],
"best":[],"images":[{"item":"b.png","width":64,"height":48,"ap50":0.25,"reference":[{"class":0,"box":[1,2,3,4]}],
"prediction":[{"class":1,"box":[1.5,2,3,4],"score":0.625}],"jpeg":"/9j/AAAA"}]})",
      R"({"step":4,"weights":"last","kind":"classification","items":2,"accuracy":0.5,"classes":[{"class":"a"},{"class":"b"}],"confusion":[[1,0],[1,0]],"mistakes":[{"true":1,"found":0,"items":1}],"worst":[{"item":"x","true":1,"found":0,"probability":1e-9}],"best":[]})",
      R"({"step":4,"cases":[{"case":"a","low":-1,"high":2,"planes":[
{"plane":"axial","at":[1],"rows":1,"columns":2,"row_mm":1,"column_mm":2,"image":"AAA=","reference":"AQA=","prediction":"AAE="},{"plane":"coronal","at":[0],"rows":1,"columns":2,"row_mm":1,"column_mm":2,"image":"AAA=","reference":"AQA=","prediction":"AAE="},{"plane":"sagittal","at":[0],"rows":1,"columns":1,"row_mm":1,"column_mm":2,"image":"AA==","reference":"AQ==","prediction":"AA=="}]}]})"};
}

void secret(std::string_view bytes) {
  const Secret read = read_secret(scratch_file("salt.txt", bytes), "{id-salt}");
  ensure(keyed_hash(read, "case").size() == 64, "a name made with a secret has 64 digits");
}
Seeds secret_seeds() { return {std::string(16, 'x'), std::string(32, '\xff') + "\n"}; }

constexpr const char* kAuditTime = "2026-11-26T14:37:32Z";

/// An audit file: it is checked, a line is appended, and it is checked again.
void audit(std::string_view bytes) {
  const fs::path file = scratch_file("audit.jsonl", bytes);
  const AuditChain before = check_audit_chain(file);
  AuditLog log(file, {.utc_time = [] { return kAuditTime; }, .system_log = [](const std::string&) {}});
  log.append({.command = "predict", .id = "case", .outcome = "predicted"});
  if (before.broken && before.broken->what != AuditBreak::kCut) return;
  const AuditChain after = check_audit_chain(file);
  ensure(!after.broken && after.lines == before.lines + 1, "a line that follows a whole chain makes a whole chain");
}
Seeds audit_seeds() {
  const AuditCase one{.command = "predict", .id = "case", .outcome = "failed", .code = "E_GAP"};
  const std::string first = audit_line(one, {.time = kAuditTime}), torn = "{\"number\":2,\"ti\n";
  const std::string second =
      audit_line(one, {.number = 2,
                       .time = kAuditTime,
                       .previous = first.substr(first.size() - 66, 64),
                       .after_torn = TornLine{.bytes = static_cast<std::int64_t>(torn.size()), .hash = sha256(torn)}});
  return {first + "\n", first + "\n" + torn + second + "\n", first + "\n" + torn};
}

void golden(std::string_view bytes) {
  const std::string written = golden_text(parse_golden(std::string(bytes), "golden.json"));
  ensure(golden_text(parse_golden(written, "golden.json")) == written, "a golden case is read as it was written");
}
Seeds golden_seeds() {
  GoldenCase one{.task = "segmentation", .version = "0.2.0", .processor = "a"};
  one.model = {{"depth", 5}, {"momentum", 0.1}}, one.files = {{"input/a.png", sha256("a")}};
  one.reference = "amx", one.answers = {{"amx", sha256("b")}, {"avx2", sha256("c")}};
  return {golden_text(one)};
}

}  // namespace

std::vector<FuzzTarget> folder_targets() {
  return {{"secret", secret_seeds, secret},
          {"audit", audit_seeds, audit},
          {"golden", golden_seeds, golden},
          {"class_list", class_list_seeds, class_list},
          {"class_predictions", class_predictions_seeds, class_predictions},
          {"manifest", manifest_seeds, manifest},
          {"lock_note", lock_seeds, lock_note},
          {"metrics", metrics_seeds, metrics},
          {"status", status_seeds, status},
          {"run_page", run_page_seeds, run_page},
          {"prepared", prepared_seeds, prepared},
          {"foreground", foreground_seeds, foreground},
          {"description", description_seeds, description}};
}

}  // namespace voxshard

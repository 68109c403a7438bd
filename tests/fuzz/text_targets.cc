// Readers of text: settings, descriptions of data sets, runs and devices, graphs and programs.
#include "io/datasets/class_map.h"
#include "io/datasets/dataset.h"
#include "io/datasets/study_rules.h"
#include "io/dicom_out/segment_terms.h"
#include "io/files/config_file.h"
#include "io/files/csv.h"
#include "io/video/select.h"
#include "libcore/device/host/host_rates.h"
#include "libcore/device/tpu/tpu_json.h"
#include "libcore/graph/text.h"
#include "libcore/ops/op_table.h"
#include "libcore/partition/text.h"
#include "pipelines/model_runs/model_spec.h"
#include "pipelines/settings/original_keys.h"
#include "pipelines/settings/setting.h"
#include "pipelines/tasks/detection/samples/image_preparation.h"
#include "pipelines/tasks/segmentation/dataset/prepare_dataset.h"
#include "pipelines/tasks/segmentation/dataset/prepare_plan.h"
#include "pipelines/tpu/tpu_config.h"
#include "pipelines/tpu/tpu_config_loop.h"
#include "pipelines/tpu/tpu_config_text.h"
#include "tests/device/host/host_scene.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/partition/program_text.h"

namespace voxshard {
namespace {

using Seeds = std::vector<std::string>;

std::string repository_file(const std::string& name) {
  return read_text({.path = std::string(VOXSHARD_SOURCE_DIR "/") + name});
}

/// Reads settings as the command line does for --config.
void read_settings(const std::filesystem::path& path) {
  const OptionValues values = with_option_names(read_config(path));
  if (values.values.is_object() && values.values.contains("input_partition_dims"))
    input_partition_dims_from_json(values.values.at("input_partition_dims"));
}

void config_json(std::string_view bytes) { read_settings(scratch_file("config.json", bytes)); }
void config_toml(std::string_view bytes) { read_settings(scratch_file("config.toml", bytes)); }

void config_yaml(std::string_view bytes) { read_settings(scratch_file("config.yaml", bytes)); }

Seeds json_seeds() {
  return {
      R"({"seed": 7, "train": {"steps": 3, "partition": "1x2x2x1x1"}, "num_cores_per_replica": 4})",
      R"({"tpu_config": {"iterations_per_loop": "60m", "num_shards": 8}, "train_batch_size": 16, "use_batch_norm": false})",
      R"({"input_partition_dims": [[1, 4, 1, 1, 1], null], "a": {"b": [1.5, -2e3, "\u00e9\n", true]}})"};
}
Seeds toml_seeds() {
  return {"seed = 7\n[prepare]\nspacing = [2, 2, 3]\nclip = [-200, 300]\n",
          "input_partition_dims = '''[[1, 4, 1, 1, 1], None]'''\na.b.\"c d\" = {e = 1979-05-27T07:32:00Z, f = "
          "0x1F}\n[[list]]\n",
          repository_file("data/configs/retinanet_r50.toml")};
}

Seeds yaml_seeds() {
  return {
      "train_batch_size: 16\ninput_partition_dims: [1, 8, 1, 1, 1]\nuse_batch_norm: no\nloss: 'cross_entropy'\n"
      "tpu_config: {iterations_per_loop: 60m, num_shards: ~}\n",
      "base: &b\n  - 1e-4\n  - \"x\\n\"\n  - 0x1F\nmore: {<<: {k: *b}, ? l : [*b, !!str 3]}\n--- \n# two\n",
      "a: |\n  text\n  more\nb: >-\n  folded\nc: [[1, 4], None]\n"};
}

void tpu_value(std::string_view bytes) {
  const std::string text(bytes);
  const nlohmann::json value = value_from_text(text);
  to_text(value, TextStyle::kToml);
  input_partition_dims_from_json(value);
  tpu_config_from_json({{"input_partition_dims", text}});
}
Seeds tpu_seeds() {
  return {"[[1, 4, 1, 1], None]", "[{image: [1, 4, 1, 1], 'mask': None}, None]", "1, 4, 1, 1", "{'a': (1,), 3: True}"};
}

/// The first line of the input is the name of a structure, the rest a map of classes.
void class_map(std::string_view bytes) {
  const std::size_t line = std::min(bytes.find('\n'), bytes.size());
  const ClassMap map = read_class_map(scratch_file("map.toml", bytes.substr(line)));
  ensure(label_names(map).size() == map.classes.size() + 1, "each class has a name");
  for (std::size_t k = 0; k < map.classes.size(); ++k)
    ensure(class_of(map, map.classes[k].name) == static_cast<int>(k) + 1, "a class has its own name");
  UnmatchedStructures unmatched;
  if (const std::string name(bytes.substr(0, line)); !class_of(map, name)) unmatched.add({name});
  unmatched.text();
}
Seeds class_map_seeds() {
  return {"Parotid L\n[[class]]\nname = \"parotid_left\"\naliases = [\"Parotis li.\"]\npatterns = [\"*parotid*l?\"]\n",
          "\xc3\x96sophagus\nclass = [{name = \"a\"}, {name = \"\xc3\xb6sophagus\", patterns = [\"**?*x\"]}]\n"};
}

/// The first line of the input is the kernel of a series, which is judged by the rules in the rest.
void study_rules(std::string_view bytes) {
  const std::size_t line = std::min(bytes.find('\n'), bytes.size());
  const StudyRules rules = read_study_rules(scratch_file("rules.toml", bytes.substr(line)));
  DicomSeries series;
  series.common.modality = "CT", series.common.body_part = "CHEST";
  series.common.kernel = std::string(bytes.substr(0, line));
  series.slices.resize(50), series.grid.spacing[2] = 2.5;
  ensure(rules.series.any() || broken_rule(rules.series, series).empty(), "without rules every series is taken");
  ensure(!rules.receive || (rules.receive->port >= 1 && rules.receive->aetitle.size() <= 16), "a port and a title");
  ensure(!rules.send || rules.send->host.find_first_of(" ;$`'\"\\/\n") == std::string::npos, "no word of a shell");
}
Seeds study_rule_seeds() {
  return {
      "Br40d\\3\n[studies]\nmodality = [\"CT\"]\nbody_part = [\"CHEST\", \"ABDO*\"]\nmissing_body_part = \"leave\"\n"
      "slices = [40, 2000]\nthickness = [0.0, 3.0]\nkernel = [\"B3*\", \"Br4?d\"]\n",
      "\n[receive]\naetitle = \"VOXSHARD\"\nport = 11112\nkeep_days = 7\n[send]\naetitle = \"ORTHANC\"\nhost = "
      "\"127.0.0.1\"\nport = 4242\n"};
}

/// The first line of the input is the name of a class, the rest a table of coded terms.
void terms(std::string_view bytes) {
  const std::size_t line = std::min(bytes.find('\n'), bytes.size());
  const SegmentTerms read = SegmentTerms::with_file(scratch_file("terms.toml", bytes.substr(line)));
  const SegmentTerm term = read.of(std::string(bytes.substr(0, line)));
  ensure(!term.type.code.empty() && term.type.code.size() <= 16 && !term.category.code.empty(), "a class has a term");
}
Seeds term_seeds() {
  return {"liver\n[[terms]]\nnames = [\"liver\"]\nscheme = \"99A\"\ncode = \"L\"\nmeaning = \"Liver\"\n",
          "Kidney-L\n[sides]\nleft = {code = \"7\", meaning = \"L\"}\n[generic]\ncode = \"1\"\nmeaning = \"x\"\n"
          "[[terms]]\nnames = [\"a\"]\nwhole = true\ncategory = \"lesion\"\ncode = \"2\"\nmeaning = \"A\"\n"};
}

/// The input is a value that TPUConfig takes as text.
void tpu_words(std::string_view bytes) {
  const std::string text(bytes);
  const char* key = text.find('_') == std::string::npos ? "iterations_per_loop" : "per_host_input_for_training";
  tpu_config_from_json({{key, text}});
}
Seeds tpu_word_seeds() { return {"100", "60m", "2h", "PER_HOST_V2"}; }

/// The input is the value of an option, as in config files too; the first character chooses the option.
void option_words(std::string_view bytes) {
  if (bytes.empty()) return;
  const std::string text(bytes.substr(1));
  switch (bytes[0]) {
    case 'p':
      partition_from_text(text, partition_rank(text));
      return;
    case 'e':
      extents_from_text(text, 3, 2);
      return;
    case 'b':
      bytes_from_text(text);
      return;
    case 'c':
      crop_from_text(text, 3);
      return;
    case 'r':
      frame_range_from_text(text);
      return;
    case 'f':
      frames_per_second_from_text(text);
      return;
    case 'n':
      parse_numbers(text, 3, "{spacing}");
      return;
    case 'l':
      iterations_per_loop_from_text(text);
      return;
    default:
      return;
  }
}
Seeds option_word_seeds() {
  return {"p1x2x2x1x1", "e128x96x128", "b1.5GiB",     "b1500000000", "c64x64x64",
          "r1.5s:20s",  "r100:200",    "f30000/1001", "n1,2.5,3",    "l60m"};
}

void dataset(std::string_view bytes) {
  const auto folder = scratch_file("dataset/dataset.json", bytes).parent_path();
  for (const char* name : {"imagesTr/a_0000.nii.gz", "labelsTr/a.nii.gz"})
    scratch_file(std::string("dataset/") + name, "");
  read_dataset(folder);
}
Seeds dataset_seeds() {
  return {
      R"({"channel_names": {"0": "CT"}, "labels": {"background": 0, "liver": 1}, "numTraining": 1, "file_ending": ".nii.gz"})",
      R"({"modality": {"0": "CT"}, "labels": {"0": "background", "1": "liver"}, "training": [{"image": "./imagesTr/a_0000.nii.gz",
              "label": "./labelsTr/a.nii.gz"}], "test": ["./imagesTs/b.nii.gz"], "name": "x"})",
      R"({"channel_names": {"0": "CT"}, "labels": {"background": 0}, "file_ending": ".nii.gz", "dataset": {"c":
              {"images": ["imagesTr/a_0000.nii.gz"], "label": "labelsTr/a.nii.gz"}}})",
      R"({"channel_names": {"0": "CT"}, "labels": {"background": 0, "liver": 1, "spleen": 2, "ignore": 3}, "file_ending":
              ".nii.gz", "annotated": {"a": ["spleen"]}})",
      R"({"channel_names": {"0": "CT"}, "labels": {"background": 0, "whole": [1, 2], "core": 2}, "regions_class_order":
              [1, 2], "file_ending": ".nii.gz"})"};
}

void splits(std::string_view bytes) { read_splits(scratch_file("splits_final.json", bytes)); }
Seeds split_seeds() { return {R"([{"train": ["a", "b"], "val": ["c"]}, {"train": [], "val": []}])"}; }

void plans(std::string_view bytes) { read_plan(scratch_file("plans.json", bytes)); }
Seeds plan_seeds() {
  PreparePlan plan{.class_names = {"background", "liver"}};
  plan.spacing_mm = {2, 2, 3};
  plan.clip_hu = Range{-200, 300};
  return {R"({"prepare": )" + to_json(plan).dump() + "}"};
}

/// The input is the description of a model and its images in a checkpoint.
void run_description(std::string_view bytes) {
  const nlohmann::json json = read_json(scratch_file("run.json", bytes));
  if (json.is_object() && json.contains("prepare")) image_preparation_from_json(json.at("prepare"));
  if (json.is_object() && json.contains("model")) model_spec_from_json(json.at("model"));
}
Seeds run_seeds() {
  const nlohmann::ordered_json json = {{"model", to_json(ModelSpec{})},
                                       {"prepare", to_json(ImagePreparation{.classes = {{"cell", 1}}})}};
  return {json.dump()};
}

void tpu_device(std::string_view bytes) {
  tpu_from_json(read_config(scratch_file("device.json", bytes)), "device.json", "device");
}
Seeds tpu_device_seeds() { return {repository_file("data/devices/tpu-v3.json")}; }

void host_rates(std::string_view bytes) {
  host_rates_from_json(read_config(scratch_file("host.json", bytes)), "host.json");
}
Seeds host_seeds() { return {to_json(test::round_rates(2)).dump(), repository_file("data/devices/tpu-v2.json")}; }

void table(std::string_view bytes) {
  CsvWriter::resume(scratch_file("results.csv", bytes), {"step", "loss"}, 10).write({std::int64_t{11}, 0.5});
}
Seeds table_seeds() { return {"step,loss\n1,0.5\n10,0.25\n11,0.2\n12,"}; }

void graph_text(std::string_view bytes) { to_text(parse_graph(bytes, op_table())); }
Seeds graph_seeds() {
  return {
      "%0 x = input : f32[1x4x4x2]\n%1 w = parameter begins=normal:0.01 decays=true : f32[2x2x2x3]\n"
      "%2 y = conv %0, %1 kernel=2x2 stride=1x1 dilation=1x1 pad=0x0/0x0 : f32[1x3x3x3]\n"
      "%3 z = leaky_relu %2 slope=0.5 : f32[1x3x3x3]\n%4 sum = sum_all %3 : f64[1]\noutput loss = %4\nbackward %4\n",
      "%0 x = input image : f32[1x4x4x2]\n%1 y = input labels classes=3 : i32[1x4x4x1]\n"
      "%2 c = input class_targets level=3 classes=2 ignored=-7 : i32[1x1x1x9]\n"};
}

void program_text(std::string_view bytes) {
  const Program program = parse_program(bytes, op_table());
  verify(program, op_table());
  whole_text(program);
}
Seeds program_seeds() { return {std::string(test::kProgramByHand)}; }

}  // namespace

std::vector<FuzzTarget> text_targets() {
  return {{"config_json", json_seeds, config_json},
          {"config_toml", toml_seeds, config_toml},
          {"config_yaml", yaml_seeds, config_yaml},
          {"tpu_value", tpu_seeds, tpu_value},
          {"tpu_words", tpu_word_seeds, tpu_words},
          {"option_words", option_word_seeds, option_words},
          {"class_map", class_map_seeds, class_map},
          {"study_rules", study_rule_seeds, study_rules},
          {"terms", term_seeds, terms},
          {"dataset", dataset_seeds, dataset},
          {"splits", split_seeds, splits},
          {"plans", plan_seeds, plans},
          {"run", run_seeds, run_description},
          {"tpu_device", tpu_device_seeds, tpu_device},
          {"host_rates", host_seeds, host_rates},
          {"table", table_seeds, table},
          {"graph", graph_seeds, graph_text},
          {"program", program_seeds, program_text}};
}

}  // namespace voxshard

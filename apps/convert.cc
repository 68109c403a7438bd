// voxshard convert: TFRecord files of the original's models to folders and back, boxes in images to a folder per class,
// volumes and structures to NIfTI, data sets to nnU-Net folders.
#include <CLI/CLI.hpp>

#include "apps/command.h"
#include "apps/results.h"
#include "apps/setting_args.h"
#include "io/boxes/box_format.h"
#include "libcore/base/text.h"
#include "pipelines/commands/run_convert.h"
#include "pipelines/model_runs/model_spec.h"

namespace voxshard {
namespace {

struct Options {
  ConvertRequest request;
  std::string to, size, labels = "one-hot", compression = "gzip", series = "best";
  bool provenance = false;
};

RunCommand add(CLI::App& app) {
  auto o = std::make_shared<Options>();
  const BoxWords boxes = box_words();
  app.add_option(
         "input", o->request.input,
         "A TFRecord file or a folder of them, of the reference U-Net (image/ct_image, image/label) or RetinaNet "
         "(image/encoded, image/object/...); or, to write such files: an nnU-Net or Decathlon folder, a folder that "
         "prepare made, " +
             joined(boxes.image_files, ", ") + ", a folder of " + or_text(boxes.images) + ", a " +
             or_text(boxes.sequences) +
             " sequence; or one volume: a DICOM series, a DICOM segmentation, an RT structure set, any volume file, or "
             "a "
             "zip or tar of one")
      ->required();
  app.add_option(
         "-o,--output", o->request.output,
         "Folder to write: NIfTI with dataset.json, pictures with COCO JSON, or TFRecord files; for one volume its "
         "file, " +
             volume_endings())
      ->required();
  app.add_option("--to", o->to,
                 "folder or tfrecord; default: the other of what the input is; classes: each box of pictures cut out, "
                 "in a folder per class; nnunet: a data set, or a folder of volumes such as a tree of DICOM series, as "
                 "nnU-Net v2 stores it, voxels and geometry unchanged")
      ->check(one_of({"folder", "tfrecord", "classes", "nnunet"}));
  app.add_option("--size", o->size,
                 "Of volumes in records that are no cubes and do not say it, D x H x W like 96x128x128");
  app.add_option("--labels", o->labels,
                 "Of volumes that become records: one-hot, as the reference reads them, or index (a quarter of the "
                 "bytes or less)")
      ->check(one_of({"one-hot", "index"}))
      ->capture_default_str();
  app.add_option("--compression", o->compression,
                 "Of the records of volumes: gzip, as the reference reads them, or none")
      ->check(one_of({"gzip", "none"}))
      ->capture_default_str();
  app.add_option("--files", o->request.files, "Files that pictures are spread over")
      ->check(number_in({1, 99999}))
      ->capture_default_str();
  add_irregular_option(
      app, o->request.irregular,
      "Of a DICOM series whose slices are missing, doubled, unevenly spaced or tilted, and of a file with sheared "
      "axes: reject, or resample on an upright regular grid");
  app.add_option(
         "--series", o->series,
         "Of several reconstructions of a scan in a tree that becomes an nnU-Net folder without --classes: best, "
         "the one that labels refer to, else the one with the thinnest slices, of these the one with the softest "
         "kernel; or all")
      ->check(one_of({"best", "all"}))
      ->capture_default_str();
  app.add_option("--fraction", o->request.least_fraction,
                 "Of a fractional DICOM segmentation: the part of a voxel from which on it belongs to a segment; "
                 "W_FRACTION says that it was cut")
      ->check(number_in({0.001, 1}))
      ->capture_default_str();
  app.add_flag("--provenance", o->provenance,
               "Of volumes: a JSON beside each with version, source format, hash of the source's content, and what was "
               "repaired or resampled; without names, UIDs or paths");
  app.add_flag("--keep-names", o->request.keep_names,
               "The path of the source in that JSON too, and of a tree of DICOM series that becomes an nnU-Net folder "
               "the names of its folders for ids; both may name patients");
  app.add_option("--id-salt", o->request.id_salt,
                 "Of what becomes an nnU-Net folder: file of a secret, 16 bytes or more; ids are hashes that only its "
                 "holder can make; without it those of a tree of DICOM series are numbers");
  app.add_option(
      "--like", o->request.like,
      "Of a DICOM segmentation or an RT structure set: the image on whose voxels the label map is written, a "
      "DICOM series or any volume");
  app.add_option("--classes", o->request.classes,
                 "Of the same, and of a tree of DICOM studies that becomes an nnU-Net folder with their labels: TOML, "
                 "JSON or YAML with the classes in order, each with name, aliases and patterns that its structures may "
                 "have; default: the numbers in the file, and a tree gives images alone");
  return [o](const Context& context) {
    ConvertRequest& request = o->request;
    if (o->provenance) request.provenance = request.keep_names ? Provenance::kWithNames : Provenance::kWithoutNames;
    request.threads = context.threads;
    request.one_hot = o->labels == "one-hot";
    request.compressed = o->compression == "gzip";
    request.best_series = o->series == "best";
    if (!o->size.empty()) {
      const Shape extents = extents_from_text(o->size, 3, 1);
      request.shape = {extents[1], extents[2], extents[3]};
    }
    const ConvertTo to = o->to.empty()        ? convert_direction(request.input, request.output)
                         : o->to == "classes" ? ConvertTo::kClasses
                         : o->to == "nnunet"  ? ConvertTo::kNnunet
                         : o->to == "folder"  ? ConvertTo::kFolder
                                              : ConvertTo::kRecords;
    return outcome(run_convert(request, to, *context.progress));
  };
}

}  // namespace

Command convert_command() {
  return {
      "convert",
      "Turns TFRecord files of the original's models into folders of volumes or pictures, and such folders into "
      "TFRecord files; boxes of pictures into "
      "a folder per class; one volume, such as a DICOM series, into a NIfTI file; contours of an RT structure set into "
      "a label map; data sets and folders of volumes into nnU-Net folders.",
      "voxshard convert records -o data                    # instance-*.tfrecords to NIfTI, or pictures and COCO JSON\n"
      "  voxshard convert data -o records --labels one-hot   # an nnU-Net folder to instance-CASE-0.tfrecords, gzip\n"
      "  voxshard convert coco/train.json -o records --files 8\n"
      "  voxshard convert coco/train.json -o cells/train --to classes   # each box cut out, as classifiers learn from\n"
      "  voxshard convert study/series -o ct.nii.gz          # a DICOM series, Hounsfield units, true geometry\n"
      "  voxshard convert study.zip -o ct.nii.gz             # the same of an archive that holds one series\n"
      "  voxshard convert Task09_Spleen -o Dataset009_Spleen --to nnunet   # Decathlon to nnU-Net v2\n"
      "  voxshard convert scans -o Dataset010_Scans --to nnunet --provenance   # a tree of DICOM series to imagesTs\n"
      "  voxshard convert studies -o Dataset011_Organs --to nnunet --classes map.toml   # with SEG and RT-STRUCT\n"
      "  voxshard convert RS.dcm --like study/series --classes map.toml -o labels.nii.gz",
      add,
      nullptr,
      "files that are whole stay, but they are no data set yet"};
}

}  // namespace voxshard

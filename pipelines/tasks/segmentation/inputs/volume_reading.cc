#include "pipelines/tasks/segmentation/inputs/volume_reading.h"

#include "pipelines/tasks/input_tree.h"
#include "pipelines/tasks/irregular_slices.h"
#include "pipelines/tasks/series_choice.h"

namespace voxshard {

std::vector<Setting> limit_settings(VolumeLimits& limits) {
  const std::string group = "Limits";
  return {{"most-voxels",
           "Voxels of a volume, and of what it is resampled to; more is left out with E_SIZE",
           group,
           &limits.most_voxels,
           {{1, 0x1p40}}},
          {"most-inflation",
           "Bytes that one byte of a .gz or of an archive may unpack to, asked of what unpacks to more than 1 GiB",
           group,
           &limits.most_inflation,
           {{1, 1e6}}}};
}

void add_reading_words(std::vector<std::string>& words, IrregularSlices irregular, bool resamples_channels) {
  if (irregular != IrregularSlices::kReject) words.insert(words.end(), {"{irregular-slices}", "resample"});
  if (resamples_channels) words.insert(words.end(), {"{channel-grids}", "resample"});
}

Setting fraction_setting(VolumeLimits& limits) {
  return {"fraction",
          "Of a fractional DICOM segmentation: the part of a voxel from which on it belongs to a segment; W_FRACTION "
          "says that it was cut",
          "",
          &limits.least_fraction,
          {{0.001, 1}}};
}

/// Returns a setting of what is done while the network works.
Setting beside_setting(const std::string& name, const std::string& what, bool& on) {
  return {.name = name,
          .help = "on: " + what +
                  ", where both are within the memory of the process, with the same outputs; off: one after another",
          .group = "Limits",
          .value = named(on, {"off", "on"}),
          .choices = {"on", "off"}};
}

std::vector<Setting> prediction_settings(VolumeReading& o) {
  std::vector<Setting> settings = limit_settings(o.limits);
  settings.push_back(irregular_setting(o.irregular));
  settings.push_back(series_setting(o.best_series));
  settings.push_back({"id-salt",
                      "File of a secret, 16 bytes or more: label maps are named by hashes that only its holder can "
                      "make, as prepare names cases with it; without it those of DICOM series and archives are "
                      "numbered; case_paths.jsonl leads back to the images",
                      "", &o.id_salt});
  settings.push_back(keep_names_setting(o.keep_names));
  settings.push_back(
      {"largest",
       "Classes of which the largest connected part alone is kept, as for an organ that there is once: "
       "none, all, or names of classes, with commas; auto: of those that lie in one part in all of at least 8 "
       "training cases, parts of up to half the size of the largest are removed",
       "", &o.largest});
  settings.push_back(
      {"probabilities",
       "Write the class probabilities of each volume too, CASE.npz for NumPy: f16 (C, Z, Y, X) on the grid "
       "of the label map",
       "", &o.probabilities});
  settings.push_back(
      beside_setting("read-ahead", "a volume is read while the network works on the one before", o.read_ahead));
  settings.push_back(beside_setting(
      "write-behind", "what was predicted is written while the network works on the next volume", o.write_behind));
  const std::string written = "What else is written";
  settings.push_back({"refer",
                      "List at the end what a person should look at: cases with quality flags, and those that were "
                      "left out, each with its reasons",
                      written, &o.refer});
  settings.push_back(
      {"write",
       "What else to write of each volume, with commas: dicom-seg, a DICOM segmentation; measures, volume, "
       "mean, deviation and largest diameter of each class; sr, a DICOM report of these, with the "
       "segmentation; rt-struct, an RT structure set. DICOM outputs need a DICOM series; without one they "
       "are left out (W_OUTPUT)",
       written, &o.write});
  settings.push_back({"terms",
                      "With {write}: file of coded terms of classes (TOML, JSON or YAML) that come before those of the "
                      "program, data/terms/segment_terms.toml",
                      written, &o.terms});
  settings.push_back({"segments-per-file",
                      "Segments of a file of a DICOM segmentation that has more than 400 frames, which some viewers "
                      "leave out: CASE.seg.1.dcm, CASE.seg.2.dcm, ...; 0: one file",
                      written,
                      &o.segments_per_file,
                      {{0, 65535}}});
  settings.push_back({"outbox",
                      "With {write}: folder where the DICOM objects of each case appear as a folder of their own, to "
                      "be sent (data/examples/pacs), once they are held against the headers of its images; what may "
                      "not be sent gets its reason in \"held\" there",
                      written, &o.outbox});
  settings.push_back({"fill-uids",
                      "With {write}: fill empty UIDs of a DICOM series by some made of a hash of its files, so that "
                      "objects can be made of it and sent",
                      written, &o.fill_uids});
  const std::string group = "Inputs that arrive";
  settings.push_back({"watch",
                      "The input is a folder: what is in it is predicted, then what arrives, until the command is "
                      "stopped; the model stays loaded",
                      group, &o.watch});
  settings.push_back({"done",
                      "With {watch}: folder to which finished inputs are moved; those that were left out go to "
                      "\"failed\" in it, quarantine.csv of the output says why",
                      group, &o.done});
  settings.push_back({"quiet-for",
                      "With {watch}: seconds in which no file of an input has changed before it counts as complete",
                      group,
                      &o.quiet_s,
                      {{0, 86400}}});
  settings.push_back({"rules",
                      "File of rules (TOML, JSON or YAML): which series of a study are predicted, and with {watch} how "
                      "long finished studies are kept; the others are left alone and counted",
                      group, &o.rules});
  return settings;
}

VolumeFormats formats_within(const VolumeFormats& formats, VolumeLimits limits, std::int64_t memory_bytes) {
  limits.memory_bytes = memory_bytes;
  return formats_within(formats, limits);
}

void require_folder_output(const PredictOptions& options) {
  if (volume_stem(options.output, options.formats) && !std::filesystem::is_directory(options.output))
    throw Error(ErrorKind::kUsage,
                "[predict] {output} " + options.output.string() +
                    " is named like a volume, but label maps go to a folder, each named by its case; give a folder");
}

std::string naming_of(const PredictOptions& options, const VolumeReading& reading) {
  const std::string names = reading.keep_names ? "names of folders" : reading.id_salt.empty() ? "" : "salted";
  return names + (options.recursive ? ", in folders" : "") +
         (reading.largest == "none" ? "" : ", largest parts of " + reading.largest) +
         (reading.probabilities ? ", probabilities" : "");
}

}  // namespace voxshard

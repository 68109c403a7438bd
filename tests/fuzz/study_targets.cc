// Readers of several files at once: the series of a folder of DICOM files with the labels that refer to them, and the
// channels of NRRD and MetaImage files; and the compressed pixels of DICOM files without the files.
#include <algorithm>
#include <array>
#include <cstring>

#include "io/datasets/case_label.h"
#include "io/datasets/study_tree.h"
#include "io/dicom/dicom_codec.h"
#include "io/dicom/structures.h"
#include "io/dicom_out/filled_uids.h"
#include "io/dicom_out/measurement_report.h"
#include "io/dicom_out/patient_identity.h"
#include "io/dicom_out/segmentation_object.h"
#include "io/dicom_out/structure_set.h"
#include "io/files/channel_address.h"
#include "io/volume/volume.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/io/dicom/compressed_images.h"
#include "tests/io/study_files.h"
#include "tests/scratch_folder.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;
using Seeds = std::vector<std::string>;

constexpr std::string_view kNextFile = "#next file#";  // between the files of an input
constexpr std::int64_t kMostVoxels = std::int64_t{1} << 20;

/// Writes the parts of an input as the files of a folder; returns the folder.
fs::path write_folder(std::string_view bytes) {
  constexpr int kMostFiles = 16;
  const fs::path folder = scratch_file("study/none", "").parent_path();
  fs::remove_all(folder);
  for (int file = 0; file < kMostFiles; ++file) {
    const std::size_t end = std::min(bytes.find(kNextFile), bytes.size());
    scratch_file("study/" + std::to_string(file), bytes.substr(0, end));
    if (end == bytes.size()) break;
    bytes.remove_prefix(end + kNextFile.size());
  }
  return folder;
}

/// Sorts the files of a folder into series as `info` does, reads these as `predict` does, and the labels as `prepare`.
void studies(std::string_view bytes) {
  const fs::path folder = write_folder(bytes);
  const VolumeFormats formats =
      formats_within(volume_formats_with(IrregularSlices::kResample), {.most_voxels = kMostVoxels});
  for (const FoundVolume& volume : find_volumes(folder, formats).volumes) {
    const VolumeInfo info = read_volume_info(volume.path, formats);
    if (!info.readable || voxels_of(info.geometry) > kMostVoxels) continue;
    const Volume read = read_image(volume.path, formats);
    ensure(same_geometry(info.geometry, read.geometry, 0), "a volume lies where its header says");
  }
  const ClassMap classes{.classes = {{"liver", {"A"}, {"*le*"}}, {"spleen", {}, {"*"}}}};
  const StudyTree tree = read_study_tree(folder, classes, formats.limits);
  for (const Case& item : tree.dataset.training) {
    const VolumeInfo image = read_volume_info(item.images.at(0), formats);
    if (!image.readable || voxels_of(image.geometry) > kMostVoxels) continue;
    const CaseLabel label = read_case_label(item, image.geometry, formats);
    const auto* v = label.volume.voxels.as<std::int32_t>();
    ensure(std::all_of(v, v + label.volume.voxels.count(), [](std::int32_t one) { return one >= 0 && one <= 2; }),
           "a voxel has one of the classes");
  }
}

/// Makes the objects that `predict` writes of each series of a folder, lists the structures in them and asks whose they
/// are.
void objects(std::string_view bytes) {
  constexpr std::int64_t kMostLabelled = 4096;
  const fs::path folder = write_folder(bytes), out = scratch_file("objects/none", "").parent_path();
  const std::vector<std::string> classes = {"background", "liver", "kidney_left"};
  for (const DicomSeries& series : find_dicom_series(folder)->series) {
    const DicomGrid& g = series.grid;
    const Geometry grid{.size = g.size, .origin = g.origin, .spacing = g.spacing, .direction = g.direction};
    if (!series.problem.empty() || voxels_of(grid) > kMostLabelled) continue;
    SourceSeries source = read_source_series(series);
    if (!lacking_uids(source).empty()) fill_uids(source, "input");
    if (!unfit_reason(source, grid).empty()) continue;
    Tensor voxels(DType::kI32, grid.shape());
    voxels.as<std::int32_t>()[0] = 2, voxels.as<std::int32_t>()[voxels.count() - 1] = 1;
    const SeriesLabels labels{source, voxels, classes, "key"};
    write_segmentation(out / "a.seg.dcm", labels, SegmentTerms::builtin());
    ensure(read_structure_file(out / "a.seg.dcm").structures.size() == 2, "each class is a segment");
    write_structure_set(out / "a.rtstruct.dcm", labels, SegmentTerms::builtin());
    ensure(read_structure_file(out / "a.rtstruct.dcm").structures.size() == 2, "each class is a region");
    write_measurement_report(
        out / "a.sr.dcm", labels, SegmentTerms::builtin(),
        {.numbers = {{}, {.volume_ml = 1}, {.volume_ml = 2}}, .parts = {whole_segmentation(classes.size())}});
    PatientIdentity whose = series_identity(series).value_or(PatientIdentity{});
    whose.study = source.series.common.study + "0";
    for (const char* name : {"a.seg.dcm", "a.rtstruct.dcm", "a.sr.dcm"})
      ensure(!is_of(out / name, whose), "an object of another study is not taken for one of this");
  }
}

/// Returns studies of four slices with labels of both kinds, two series of one scan, and a PET.
Seeds study_seeds() {
  Seeds seeds;
  const auto add = [&](auto write) {
    const fs::path folder = scratch_file("seed/none", "").parent_path();
    fs::remove_all(folder);
    write(folder);
    std::vector<fs::path> files;
    for (const auto& file : fs::recursive_directory_iterator(folder))
      if (file.is_regular_file()) files.push_back(file.path());
    std::sort(files.begin(), files.end());
    std::string seed;
    for (const fs::path& file : files) seed += (seed.empty() ? "" : std::string(kNextFile)) + read_bytes(file);
    seeds.push_back(seed);
  };
  const StudySeries ct{.side = 4}, sharp{.series = "1.2.840.77.2", .kernel = "B70", .side = 4, .step_mm = 3};
  add([&](const fs::path& folder) {
    write_series(folder, ct);
    write_structure_set(folder / "rs", ct, {{1, "Leber", 1, 3, 1, 3}, {2, "Spleen", 0, 1, 0, 1}});
  });
  add([&](const fs::path& folder) {
    write_series(folder, ct), write_segmentation(folder / "seg", ct, {{1, "liver", 0, 2, 0, 2}});
  });
  add([&](const fs::path& folder) {
    write_series(folder / "a", ct), write_series(folder / "b", sharp);
    write_structure_set(folder / "rs", {.series = "1.2.9", .side = 4}, {{1, "A", 1, 3, 1, 3}});
  });
  std::string pet;
  for (int z = 0; z < 3; ++z) {
    DicomSpec spec{.instance = "1.2.3." + std::to_string(z), .modality = "PT", .pet = PetSpec{}};
    spec.position = {{0, 0, 3.0 * z}};
    pet += (z > 0 ? std::string(kNextFile) : "") + dicom_bytes(spec, {1, 2, 3, 4});
  }
  seeds.push_back(pet);
  return seeds;
}

/// Reads the channels of a file with a text header.
void text_channels(std::string_view bytes) {
  const fs::path path = scratch_file(bytes.starts_with("NRRD") ? "channels.nrrd" : "channels.mha", bytes);
  for (std::size_t channel = 0; channel < 2; ++channel) {
    const fs::path address = channel_address(path, channel, 2);
    const VolumeInfo info = check_volume(address);
    const Volume volume = read_image(address);
    ensure(info.readable && same_geometry(info.geometry, volume.geometry, 0), "a channel lies where its header says");
    files_of_volume(address);
  }
}

Seeds text_channel_seeds() {
  const std::string voxels(16, '\1');
  const std::string nrrd = "NRRD0004\ntype: short\ndimension: 4\nencoding: raw\nendian: little\n",
                    meta = "ElementType = MET_SHORT\nElementDataFile = LOCAL\n";
  return {nrrd + "sizes: 2 2 1 2\nspace directions: none (1,0,0) (0,1,0) (0,0,1)\nspace: RAS\n\n" + voxels,
          nrrd + "sizes: 2 1 2 2\nkinds: domain domain domain list\nspacings: 1 2 3 1\n\n" + voxels,
          "NDims = 4\nDimSize = 2 1 2 2\nElementSpacing = 1 2 3 1\n" + meta + voxels,
          "NDims = 3\nDimSize = 2 1 2\nElementNumberOfChannels = 2\n" + meta + voxels};
}

constexpr std::array<const char*, 9> kSyntaxes = {"5",    "4.50", "4.51", "4.57", "4.70",
                                                  "4.80", "4.81", "4.90", "4.91"};  // behind 1.2.840.10008.1.2.
constexpr std::size_t kPixelHeader = 8;

/// Decodes compressed pixels. The input begins with a byte each for the transfer syntax, the columns, the rows, the
/// frames, the bytes of a pixel, the stored bits, the highest bit and the fragments; with those after it as large as
/// each other. The highest bit of the fifth byte says that pixels are signed.
void compressed_pixels(std::string_view bytes) {
  if (bytes.size() <= kPixelHeader) return;
  const auto number = [&](std::size_t at) { return static_cast<unsigned char>(bytes[at]); };
  const CompressedPixels description{
      .path = "slice.dcm",
      .syntax = std::string("1.2.840.10008.1.2.") + kSyntaxes[number(0) % kSyntaxes.size()],
      .columns = 1 + number(1),
      .rows = 1 + number(2),
      .frames = 1 + number(3) % 4,
      .bits = 8 * (number(4) % 8),
      .bits_stored = number(5),
      .high_bit = number(6),
      .is_signed = number(4) >= 128};
  const std::string_view rest = bytes.substr(kPixelHeader);
  const std::size_t count = 1 + number(7) % 8, part = ceil_div(rest.size(), count);
  std::vector<std::vector<char>> fragments;
  for (std::size_t at = 0; at < rest.size(); at += part) {
    const std::string_view one = rest.substr(at, part);
    fragments.emplace_back(one.begin(), one.end());
  }
  const std::vector<char> pixels = decode_dicom_pixels(description, fragments);
  ensure(std::ssize(pixels) == description.columns * description.rows * description.frames * description.bits / 8,
         "all pixels are decoded");
}

/// Returns RLE pixels of 3 x 1, JPEG ones of 16 x 16, JPEG-LS ones of 3 x 2 and JPEG 2000 ones of 7 x 5.
Seeds compressed_pixel_seeds() {
  return {std::string("\0\2\0\0\2\x10\x0f\0", 8) + rle_frame({std::string("\xff\1\0", 3), "\xfe\x2c\5"}),
          std::string("\1\x0f\x0f\0\1\10\7\0", 8) + std::string(kJpeg),
          std::string("\5\2\1\0\x82\x10\x0f\0", 8) + std::string(kJpegLs16),
          std::string("\7\6\4\0\2\x0c\x0b\0", 8) + std::string(kJpeg2000)};
}

}  // namespace

std::vector<FuzzTarget> study_targets() {
  return {{"studies", study_seeds, studies},
          {"objects", study_seeds, objects},
          {"compressed_pixels", compressed_pixel_seeds, compressed_pixels},
          {"text_channels", text_channel_seeds, text_channels}};
}

}  // namespace voxshard

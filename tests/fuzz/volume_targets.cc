// Readers of volumes, in all formats and as the map of the cache.
#include <algorithm>
#include <cstring>

#include "io/dicom/structures.h"
#include "io/files/channel_address.h"
#include "io/structures/structure_labels.h"
#include "io/volume/dicom.h"
#include "io/volume/mapped_volume.h"
#include "io/volume/volume.h"
#include "libcore/base/plain_text.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/io/structure_files.h"
#include "tests/scratch_folder.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;
using Seeds = std::vector<std::string>;

void append_seeds(Seeds& seeds, Seeds more) {
  for (std::string& seed : more) seeds.push_back(std::move(seed));
}

/// Reads a NIfTI file: its header as `info` and the commands check it, the voxels, and their position.
void nifti(std::string_view bytes) {
  const fs::path path = scratch_file("volume.nii", bytes);
  volume_stem(path);
  const VolumeInfo info = read_volume_info(path);
  check_volume(path);
  const Volume volume = read_image(path);
  ensure(info.readable && same_geometry(info.geometry, volume.geometry, 0), "a volume lies where its header says");
  orientation_code(volume.geometry);
  const std::array<double, 3> corner = volume.geometry.world({0, 0, 0});
  volume.geometry.index_of(corner);
}
/// Reads a NIfTI file whose axes may be sheared on an upright grid, as predict does on demand.
void nifti_upright(std::string_view bytes) {
  const fs::path path = scratch_file("sheared.nii", bytes);
  const VolumeFormats formats =
      formats_within(volume_formats_with(IrregularSlices::kResample), {.most_voxels = std::int64_t{1} << 20});
  const VolumeInfo info = read_volume_info(path, formats);
  if (!info.readable || voxels_of(info.geometry) > (std::int64_t{1} << 20)) return;
  const Volume volume = read_image(path, formats);
  ensure(same_geometry(info.geometry, volume.geometry, 0), "a volume lies where its header says");
}
void nifti_gz(std::string_view bytes) {
  const fs::path path = scratch_file("volume.nii.gz", bytes);
  check_volume(path);
  read_label(path);
}

/// Reads the channels of a 4-D file, as they are and with the ending of a packed file, which may also be plain.
void nifti_channels(std::string_view bytes) {
  for (const char* name : {"channels.nii", "channels.nii.gz"}) {
    const fs::path path = scratch_file(name, bytes);
    for (std::size_t channel = 0; channel < 2; ++channel) {
      const fs::path address = channel_address(path, channel, 2);
      const VolumeInfo info = check_volume(address);
      const Volume volume = read_image(address);
      ensure(info.readable && same_geometry(info.geometry, volume.geometry, 0), "a channel lies where its header says");
    }
  }
}

/// Opens the cache that training maps, and reads its whole box.
void mapped(std::string_view bytes) {
  const MappedVolume map = MappedVolume::open(scratch_file("mapped.nii", bytes));
  map.will_need(Box::whole(map.shape()));
  for (const DType type : {map.dtype(), DType::kF64}) {
    Tensor all(type, map.shape());
    map.read_box(all.view().box, all.view());
  }
  ensure(map.copied_bytes() > 0 && map.voxel_bytes() > 0 && map.geometry().shape() == map.shape(),
         "a map knows what it holds");
  map.forget();
}

std::string small_volume(const std::string& name, DiskType type) {
  const bool label = type != DiskType::kF32;
  Volume volume{.geometry = {.size = {4, 3, 2}}, .voxels = Tensor(label ? DType::kI32 : DType::kF32, {2, 3, 4})};
  for (std::int64_t i = 0; i < volume.voxels.count(); ++i) {
    if (label)
      volume.voxels.as<std::int32_t>()[i] = static_cast<std::int32_t>(i % 3);
    else
      volume.voxels.as<float>()[i] = static_cast<float>(i);
  }
  const fs::path path = scratch_file(name, "");
  write_volume(path, volume, type);
  return read_bytes(path);
}

/// Returns small_volume("seed.nii", type) as NIfTI-2: the fields at their offsets in nifti2.h, then the voxels.
std::string nifti2_volume(DiskType type) {
  const std::string one = small_volume("seed.nii", type);
  std::string two(544, '\0');
  const auto put = [&](std::size_t at, auto value) { std::memcpy(&two[at], &value, sizeof value); };
  put(0, std::int32_t{540});
  two.replace(4, 8, std::string("n+2\0\r\n\032\n", 8));
  two.replace(12, 2, one.substr(70, 2));  // datatype
  const std::int64_t dimensions[] = {3, 4, 3, 2, 1, 1, 1, 1};
  std::memcpy(&two[16], dimensions, sizeof dimensions);
  for (std::size_t a = 0; a < 4; ++a) put(104 + 8 * a, 1.0);  // pixdim
  put(168, std::int64_t{544});
  put(348, std::int32_t{1});                                   // sform_code
  for (std::size_t a = 0; a < 3; ++a) put(400 + 40 * a, 1.0);  // the diagonal of the sform
  put(500, std::int32_t{2});
  return two + one.substr(352);
}

Seeds nifti_seeds() {
  Seeds seeds = {small_volume("seed.nii", DiskType::kF32), small_volume("seed.nii", DiskType::kI16),
                 nifti2_volume(DiskType::kI16)};
  append_seeds(seeds, data_seeds("nifti_tricky", {".nii"}, 100'000));
  return seeds;
}
/// Returns a small volume whose second axis leans on the first, by its sform.
Seeds sheared_seeds() {
  std::string seed = small_volume("seed.nii", DiskType::kF32);
  const auto put = [&](std::size_t at, auto value) { std::memcpy(&seed[at], &value, sizeof value); };
  put(252, std::int16_t{0}), put(254, std::int16_t{1});  // qform_code, sform_code
  const float rows[] = {-1, -0.3F, 0, 0, 0, -1, 0, 0, 0, 0, 1, 0};
  std::memcpy(&seed[280], rows, sizeof rows);
  return {seed};
}
/// Returns small volumes twice behind one header, as two channels.
Seeds nifti_channels_seeds() {
  Seeds seeds;
  for (const DiskType type : {DiskType::kF32, DiskType::kI16}) {
    std::string seed = small_volume("seed.nii", type);
    seed += seed.substr(352);
    seed[40] = 4, seed[48] = 2;  // dim[0] and dim[4]
    seeds.push_back(seed);
  }
  return seeds;
}
Seeds nifti_gz_seeds() {
  Seeds seeds = {small_volume("seed.nii.gz", DiskType::kU8)};
  append_seeds(seeds, data_seeds("nifti_tricky", {".nii.gz"}, 60'000));
  return seeds;
}

/// Reads a volume with a text header as `info` and the commands do.
void text_volume(const fs::path& path) {
  files_of_volume(path);
  const VolumeInfo info = read_volume_info(path);
  check_volume(path);
  const Volume volume = read_image(path);
  ensure(info.readable && same_geometry(info.geometry, volume.geometry, 0), "a volume lies where its header says");
  read_label(path);
}
void nrrd(std::string_view bytes) { text_volume(scratch_file("volume.nrrd", bytes)); }
void meta_image(std::string_view bytes) { text_volume(scratch_file("volume.mha", bytes)); }

/// The input is a header; its voxels are in a file beside it.
void detached_nrrd(std::string_view bytes) {
  scratch_file("volume.raw", std::string(48, '\1'));
  text_volume(scratch_file("volume.nhdr", bytes));
}
void detached_meta_image(std::string_view bytes) {
  scratch_file("volume.raw", std::string(48, '\1'));
  text_volume(scratch_file("volume.mhd", bytes));
}

constexpr const char* kNrrdHeader =
    "NRRD0004\n# made by hand\ntype: short\ndimension: 3\nspace: right-anterior-superior\nsizes: 4 3 2\n"
    "space directions: (0,1.5,0) (-2,0,0) (0,0,3)\nkinds: domain domain domain\nendian: little\nencoding: raw\n"
    "space units: \"mm\" \"mm\" \"mm\"\nspace origin: (1,2,-3)\n";
constexpr const char* kMetaHeader =
    "ObjectType = Image\nNDims = 3\nBinaryData = True\nBinaryDataByteOrderMSB = True\nCompressedData = False\n"
    "TransformMatrix = 0 1 0 -1 0 0 0 0 1\nOffset = 1 2 -3\nElementSpacing = 1.5 2 3\nDimSize = 4 3 2\n"
    "HeaderSize = 0\nElementType = MET_USHORT\nElementDataFile = ";

Seeds nrrd_seeds() {
  Seeds seeds = {kNrrdHeader + ("key:=value\n\n" + std::string(48, '\1')),
                 kNrrdHeader + ("byte skip: -1\n\nabc" + std::string(48, '\1')),
                 "NRRD0001\ntype: double\ndimension: 3\nsizes: 1 2 1\nspacings: 1 2 3\nencoding: raw\nendian: big\n\n" +
                     std::string(16, '\0')};
  for (const DiskType type : {DiskType::kF32, DiskType::kU8}) seeds.push_back(small_volume("seed.nrrd", type));
  append_seeds(seeds, data_seeds("dicom_tricky", {".nrrd"}, 10'000));
  return seeds;
}
Seeds meta_image_seeds() {
  Seeds seeds = {kMetaHeader + ("LOCAL\n" + std::string(48, '\1'))};
  for (const DiskType type : {DiskType::kF32, DiskType::kU8}) seeds.push_back(small_volume("seed.mha", type));
  return seeds;
}
Seeds detached_nrrd_seeds() { return {std::string(kNrrdHeader) + "data file: volume.raw\n"}; }
Seeds detached_meta_image_seeds() { return {std::string(kMetaHeader) + "volume.raw\n"}; }

/// The input is a pair of files: the first 348 bytes are the header, the rest is the file of voxels.
void nifti_pair(std::string_view bytes) {
  constexpr std::size_t kHeader = 348;
  const fs::path path = scratch_file("pair.img", bytes.substr(std::min(kHeader, bytes.size())));
  scratch_file("pair.hdr", bytes.substr(0, kHeader));
  check_volume(path);
  read_image(path);
}
/// Returns headers of single files with the magic of a pair, and their voxels.
Seeds nifti_pair_seeds() {
  Seeds seeds;
  for (std::string seed : {small_volume("seed.nii", DiskType::kF32), small_volume("seed.nii", DiskType::kI16)}) {
    seed.replace(344, 4, std::string("ni1\0", 4));
    seed.replace(108, 4, std::string(4, '\0'));  // vox_offset
    seeds.push_back(seed.erase(348, 4));
  }
  return seeds;
}

/// Reads a DICOM file as `info` and the commands do: its header, its series, and its pixels.
void dicom(std::string_view bytes) {
  const fs::path path = scratch_file("slice.dcm", bytes);
  const VolumeInfo info = read_volume_info(path, {.rows = {dicom_format(IrregularSlices::kResample)}});
  if (!info.readable || voxels_of(info.geometry) > (std::int64_t{1} << 22)) return;
  const Volume volume = read_image(path);
  ensure(same_geometry(info.geometry, volume.geometry, 0), "a volume lies where its header says");
}
/// Returns small files in several transfer syntaxes, and one that needs none of the test data.
Seeds dicom_seeds() {
  Seeds seeds = {dicom_bytes({}, {1, 2, 3, 4}), dicom_bytes({.modality = "PT", .pet = PetSpec{}}, {1, 2, 3, 4})};
  append_seeds(seeds, data_seeds("dicom_tricky", {".dcm"}, 40'000));
  return seeds;
}

/// Reads a segmentation or an RT structure set as `convert` does: its structures, then all of them on a small image.
void structures(std::string_view bytes) {
  const fs::path path = scratch_file("structures.dcm", bytes);
  is_structure_file(path);
  const StructureFile file = read_structure_file(path);
  std::map<int, int> classes;
  for (const NamedStructure& one : file.structures) {
    const int next = static_cast<int>(classes.size()) + 1;
    ensure(classes.emplace(one.number, next).second, "numbers of structures are unique");
    ensure(find_steering(one.name) == std::string::npos, "names are plain text");
  }
  const Geometry image{.size = {12, 10, 8}, .origin = {-2, -2, -4}, .spacing = {1, 1.25, 2}};
  const StructureLabels made =
      read_structures_on(path, image, classes, {.limits = {.most_voxels = std::int64_t{1} << 20}});
  const auto* labels = made.volume.voxels.as<std::int32_t>();
  ensure(std::all_of(labels, labels + made.volume.voxels.count(),
                     [&](std::int32_t label) { return label >= 0 && label <= std::ssize(classes); }),
         "a voxel has one of the classes");
}
Seeds structure_seeds() {
  const Points outer = square({0.5, 0.5, 0}, 6), inner = square({2.5, 2.5, 0}, 2);
  const RoiSpec liver{.number = 4, .name = "Gl\xe4ndula", .contours = {{.points = outer}, {.points = inner}}};
  const RoiSpec point{.number = 7, .name = "Iso", .contours = {{.points = {{1, 2, 3}}, .type = "POINT"}}};
  SegmentationSpec seg{.segments = {"A", "B"}, .rows = 3, .columns = 4};
  for (std::uint16_t i = 0; i < 4; ++i)
    seg.frames.push_back({.segment = static_cast<std::uint16_t>(i % 2 + 1),
                          .position = {0, 0, i / 2.0},
                          .values = std::string(12, static_cast<char>(80 * i))});
  Seeds seeds = {structure_set_bytes({.character_set = "ISO_IR 100", .rois = {liver, point}}), segmentation_bytes(seg)};
  append_seeds(seeds, data_seeds("dicom_tricky/rt-utils", {".dcm"}, 200'000));
  append_seeds(seeds, data_seeds("dicom_tricky/dcmqi", {".seg", ".dcm"}, 40'000));
  return seeds;
}

}  // namespace

std::vector<FuzzTarget> volume_targets() {
  return {{"nifti", nifti_seeds, nifti},
          {"structures", structure_seeds, structures},
          {"dicom", dicom_seeds, dicom},
          {"nifti_upright", sheared_seeds, nifti_upright},
          {"nifti_gz", nifti_gz_seeds, nifti_gz},
          {"nifti_channels", nifti_channels_seeds, nifti_channels},
          {"nifti_pair", nifti_pair_seeds, nifti_pair},
          {"nrrd", nrrd_seeds, nrrd},
          {"nrrd_detached", detached_nrrd_seeds, detached_nrrd},
          {"meta_image", meta_image_seeds, meta_image},
          {"meta_image_detached", detached_meta_image_seeds, detached_meta_image},
          {"mapped", nifti_seeds, mapped}};
}

}  // namespace voxshard

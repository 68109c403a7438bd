// An archive of a study is read like its folder.
#include "io/volume/archive.h"

#include "tests/io/archive_files.h"
#include "tests/io/dicom_files.h"
#include "tests/io/test_files.h"

namespace voxshard {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

/// Returns three slices of a series, 5 mm apart.
std::vector<PackedEntry> slices(const std::string& folder, const std::string& series = "1.2.3.4") {
  std::vector<PackedEntry> entries;
  for (std::int16_t z = 0; z < 3; ++z) {
    DicomSpec spec{.instance = series + "." + std::to_string(z), .series = series};
    spec.position = {{1, 2, 5.0 * z}};
    entries.push_back({folder + "/Planted^Name_" + std::to_string(z) + ".dcm",
                       dicom_bytes(spec, {z, static_cast<std::int16_t>(z + 1), 2, 3})});
  }
  return entries;
}

void expect_equal(const Volume& a, const Volume& b) {
  EXPECT_TRUE(same_geometry(a.geometry, b.geometry, 0));
  ASSERT_EQ(a.voxels.count(), b.voxels.count());
  EXPECT_TRUE(std::equal(a.voxels.as<float>(), a.voxels.as<float>() + a.voxels.count(), b.voxels.as<float>()));
}

class ArchivedVolume : public testing::Test {
 protected:
  fs::path packed(const std::vector<PackedEntry>& entries, const std::string& kind = "zip") const {
    const fs::path path = dir_.path() / ("study." + kind);
    write_bytes(path, archive_bytes(kind, entries));
    return path;
  }
  ScratchFolder dir_;
};

TEST_F(ArchivedVolume, ASeriesIsReadLikeThatOfItsFolder) {
  const std::vector<PackedEntry> entries = slices("Miller/ct");
  for (const PackedEntry& entry : entries) write_bytes(dir_.path() / entry.name, entry.bytes);
  const fs::path folder = dir_.path() / "Miller";
  const Volume volume = read_image(folder);
  for (const char* kind : {"zip", "tar", "tar.gz", "tar.xz", "tar.zst"}) {
    const fs::path path = packed(entries, kind);
    EXPECT_TRUE(is_volume_folder(path));
    expect_equal(read_image(path), volume);
    const FoundVolumes found = find_volumes(path);
    ASSERT_EQ(found.volumes.size(), 1u);
    EXPECT_EQ(found.volumes[0].id, find_volumes(folder).volumes[0].id);
    EXPECT_EQ(found.volumes[0].path, path / ("#series=" + found.volumes[0].id));
    EXPECT_EQ(volume_stem(found.volumes[0].path), found.volumes[0].id);
    expect_equal(read_image(found.volumes[0].path), volume);
    EXPECT_TRUE(check_volume(found.volumes[0].path).readable);
    EXPECT_EQ(files_of_volume(path).size(), 3u);
  }
}

TEST_F(ArchivedVolume, OneOfSeveralIsNamedByItsAddress) {
  std::vector<PackedEntry> entries = slices("a", "1.2.3.4");
  for (PackedEntry& entry : slices("b", "1.2.3.5")) entries.push_back(std::move(entry));
  entries.push_back({"Miller_notes.txt", "hello"});
  const fs::path path = packed(entries);
  const FoundVolumes found = find_volumes(path);
  ASSERT_EQ(found.volumes.size(), 2u);
  EXPECT_EQ(found.left_out, "1 file of another kind");
  for (const FoundVolume& volume : found.volumes) EXPECT_EQ(read_image(volume.path).geometry.size[2], 3);
  expect_error(ErrorKind::kInput, "holds 2 volumes; give one of them: " + found.volumes[0].path.string(),
               [&] { read_image(path); });
  expect_error(ErrorKind::kInput, "is no volume of that archive", [&] { read_image(path / "#series=ct_0"); });
}

TEST_F(ArchivedVolume, FilesOfVolumesHaveTheHashOfTheirContentForAnId) {
  const std::string one = nifti_bytes({}, {1, 2, 3, 4, 5, 6, 7, 8}), two = nifti_bytes({}, {8, 7, 6, 5, 4, 3, 2, 1});
  const fs::path path = packed({{"Miller.nii", one},
                                {"Smith.NII.GZ", gzipped(two, dir_.path())},
                                {"Miller_again.nii", one},
                                {"pair.hdr", one.substr(0, 348)}});
  const FoundVolumes found = find_volumes(path);
  ASSERT_EQ(found.volumes.size(), 2u);
  EXPECT_EQ(found.left_out, "1 file of another kind, 1 volume that is there twice");
  EXPECT_EQ(read_image(found.volumes[0].path).voxels.as<float>()[0], 1);
  EXPECT_EQ(read_label(found.volumes[1].path).voxels.as<std::int32_t>()[0], 8);
  EXPECT_THAT(found.volumes[0].id, testing::MatchesRegex("volume_[0-9a-f]{12}"));
  EXPECT_EQ(volume_stem(found.volumes[0].path), found.volumes[0].id);
}

TEST_F(ArchivedVolume, ErrorsNameTheArchiveAndNoFileInIt) {
  const auto refusal_of = [](const fs::path& path) {
    try {
      read_image(path);
    } catch (const Error& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  const fs::path path = packed({{"Miller.nii", nifti_bytes({}, {1, 2, 3, 4, 5, 6, 7, 8}).substr(0, 360)}});
  const std::string refusal = refusal_of(path), problem = check_volume(path).problem;
  for (const std::string& text : {refusal, problem}) {
    EXPECT_THAT(text, HasSubstr(path.string() + "/1/1.nii"));
    EXPECT_THAT(text, HasSubstr("is truncated"));
    EXPECT_THAT(text, Not(HasSubstr("Miller")));
    EXPECT_THAT(text, Not(HasSubstr("voxshard-private")));
  }
  EXPECT_THAT(refusal_of(packed({{"Miller.txt", "hello"}})),
              HasSubstr("holds no volume that is read (but 1 file of another kind)"));
}

TEST_F(ArchivedVolume, SeriesWithoutUidsKeepTheirIds) {
  std::vector<PackedEntry> entries = slices("a", "");
  const fs::path path = packed(entries);
  const std::string id = find_volumes(path).volumes.at(0).id;
  packed(slices("b", "1.2.3.9"), "tar"), find_volumes(dir_.path() / "study.tar");
  packed(slices("b", "1.2.3.8"), "tar.gz"), find_volumes(dir_.path() / "study.tar.gz");
  EXPECT_EQ(find_volumes(path).volumes.at(0).id, id) << "unpacked to another private folder";
}

}  // namespace
}  // namespace voxshard

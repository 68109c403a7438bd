// An archive of a study is read like its folder.
#include "io/volume/archive.h"

#include <algorithm>
#include <map>
#include <set>

#include "io/archive/archive_reader.h"
#include "io/files/content_hash.h"
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

/// Writes a .tar.zst of one file with so many zeros, in pieces, and of one volume.
void write_zeros(const fs::path& path, std::int64_t zeros, const std::string& volume) {
  archive* out = archive_write_new();
  archive_write_set_format_pax_restricted(out), archive_write_add_filter_zstd(out);
  ASSERT_EQ(archive_write_open_filename(out, path.c_str()), ARCHIVE_OK);
  const auto add = [&](const char* name, std::int64_t bytes, const std::string& piece) {
    archive_entry* entry = archive_entry_new();
    archive_entry_set_pathname(entry, name), archive_entry_set_filetype(entry, AE_IFREG);
    archive_entry_set_perm(entry, 0644), archive_entry_set_size(entry, bytes);
    EXPECT_EQ(archive_write_header(out, entry), ARCHIVE_OK);
    for (std::int64_t done = 0; done < bytes; done += std::ssize(piece))
      archive_write_data(out, piece.data(), piece.size());
    archive_entry_free(entry);
  };
  add("zeros", zeros, std::string(1 << 20, '\0')), add("a.nii", std::ssize(volume), volume);
  archive_write_close(out), archive_write_free(out);
}

TEST_F(ArchivedVolume, TheBoundOfInflationIsTheOneOfVolumes) {
  const fs::path path = dir_.path() / "zeros.tar.zst";
  write_zeros(path, kFreeInflationBytes + (1 << 20), nifti_bytes({}, {1, 2, 3, 4, 5, 6, 7, 8}));
  try {
    find_volumes(path);
    ADD_FAILURE() << "is read";
  } catch (const Error& e) {
    EXPECT_STREQ(e.code(), "E_SIZE");
    EXPECT_THAT(e.what(),
                HasSubstr("more than 250 times its size; is it what it should be? Then raise {most-inflation}"));
  }
  const VolumeFormats more = formats_within(volume_formats(), {.most_inflation = 1e6});
  EXPECT_EQ(read_image(path, more).voxels.as<float>()[3], 4);
  EXPECT_GE(read_volume_info(path, more).extra_bytes, 128 << 20) << "the window of zstd is planned";
  EXPECT_EQ(more.limits.most_inflation, 1e6);
}

TEST_F(ArchivedVolume, ItsFilesAreKnownByTheHashesOfTheirContents) {
  const std::vector<PackedEntry> entries = slices("Miller/ct");
  for (const PackedEntry& entry : entries) write_bytes(dir_.path() / entry.name, entry.bytes);
  std::multiset<std::string> of_folder, of_archive;
  for (const fs::path& file : files_of_volume(dir_.path() / "Miller")) of_folder.insert(file_hash(file));
  EXPECT_TRUE(known_files_of_volume(dir_.path() / "Miller").hashes.empty()) << "they stay where they are";
  const VolumeFiles known = known_files_of_volume(packed(entries));
  for (const fs::path& file : known.files) of_archive.insert(known.hashes.at(file));
  EXPECT_EQ(of_archive, of_folder);
}

TEST_F(ArchivedVolume, ArchivesOfAFolderAreFoundInTheFoldersInItToo) {
  for (const char* name : {"b.zip", "in/a.TAR.GZ", "in/.hidden.zip", ".hidden/c.zip", "notes.gz"})
    write_bytes(dir_.path() / name, "x");
  EXPECT_THAT(archives_below(dir_.path()), ElementsAre(dir_.path() / "b.zip", dir_.path() / "in/a.TAR.GZ"));
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

TEST_F(ArchivedVolume, EveryEndingIsReadAndNamedAmongTheFormats) {
  const std::map<std::string_view, std::string> long_kinds = {
      {".tgz", "tar.gz"}, {".txz", "tar.xz"}, {".tzst", "tar.zst"}, {".tbz2", "tar.bz2"}};
  const VolumeFormats formats = volume_formats();
  const auto row = std::ranges::find_if(
      formats.rows, [](const VolumeFormat& format) { return std::string_view(format.name) == "archive"; });
  ASSERT_NE(row, formats.rows.end());
  for (const std::string_view ending : kArchiveEndings) {
    const fs::path path = dir_.path() / ("endings" + std::string(ending));
    const auto kind = long_kinds.find(ending);
    const std::string packed_as = kind != long_kinds.end() ? kind->second : std::string(ending.substr(1));
    write_bytes(path, archive_bytes(packed_as, slices("a")));
    EXPECT_EQ(find_volumes(path).volumes.size(), 1u) << ending;
    EXPECT_THAT(row->expected, HasSubstr(std::string(ending)));
  }
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

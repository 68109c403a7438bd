#include "io/volume/archive.h"

#include <algorithm>
#include <set>

#include "io/dicom/dicom_header.h"
#include "io/dicom/same_scan.h"
#include "io/files/channel_address.h"
#include "libcore/base/coded_text.h"
#include "libcore/base/text.h"

namespace voxshard {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kVolumeMark = "#volume=", kFileMark = "#file=";

bool is_archive(const fs::path& path) {
  std::error_code error;
  return is_archive_name(path) && fs::is_regular_file(path, error);
}

bool is_in_archive(const fs::path& path) {
  return path.filename().string().starts_with("#") && is_archive(path.parent_path());
}

std::optional<std::string> volume_id_in(const fs::path& path) {
  const std::string name = path.filename().string();
  return name.starts_with(kVolumeMark) ? std::optional(name.substr(kVolumeMark.size())) : std::nullopt;
}

/// Returns the ending under which a file is unpacked: "" for DICOM, one of a file that is a whole volume; none for
/// others.
std::optional<std::string> wanted_ending(std::string_view name, std::string_view begin) {
  const std::string lower = lower_case(std::string(name));
  for (const char* ending : {".nii", ".nii.gz", ".nrrd", ".mha"})
    if (lower.ends_with(ending)) return ending;
  return begins_like_dicom(begin, fs::path(lower).extension().string()) ? std::optional("") : std::nullopt;
}

/// The volumes of an unpacked archive: each by its address, and by its path as the inner formats read it.
struct Contents {
  std::shared_ptr<const UnpackedArchive> unpacked;
  FoundVolumes found;
  std::vector<fs::path> inside;
};

/// Calls an inner format; its errors then name the archive in place of the private folder.
template <class Body>
auto with_names_outside(const PrivateFolder& folder, Body body) {
  try {
    return body();
  } catch (const Error& e) {
    throw Error(e.kind(), e.code(), folder.text_outside(e.what()));
  }
}

/// How archives are read.
struct ArchiveReading {
  std::vector<VolumeFormat> inner;
  VolumeLimits limits;
};

std::shared_ptr<const UnpackedArchive> unpacked_within(const fs::path& archive, const VolumeLimits& limits) {
  return unpack_archive(archive, wanted_ending,
                        {.most_inflation = limits.most_inflation, .free_bytes = kFreeInflationBytes});
}

Contents contents_of(const fs::path& archive, const ArchiveReading& reading) {
  Contents contents{.unpacked = unpacked_within(archive, reading.limits)};
  const UnpackedArchive& unpacked = *contents.unpacked;
  auto add = [&](std::string id, const std::string& address, fs::path inside, std::string better) {
    contents.found.volumes.push_back({std::move(id), archive / address, std::move(better)});
    contents.inside.push_back(std::move(inside));
  };
  std::map<std::string, std::int64_t> left_out = unpacked.left_out;
  std::set<std::string> known;
  for (const UnpackedFile& file : unpacked.files) {
    if (file.ending.empty()) continue;
    const std::string id = "volume_" + file.hash.substr(0, 12);
    if (known.insert(id).second)
      add(id, std::string(kVolumeMark) + id, file.path, "");
    else
      ++left_out["volume that is there twice"];
  }
  std::vector<std::string> parts;
  for (const VolumeFormat& format : reading.inner) {
    if (format.find == nullptr || known.size() == unpacked.files.size()) continue;
    FoundVolumes found = with_names_outside(unpacked.folder, [&] { return format.find(unpacked.folder.path()); });
    for (FoundVolume& volume : found.volumes)
      add(volume.id, volume.path.filename().string(), volume.path, std::move(volume.better));
    if (!found.left_out.empty()) parts.push_back(std::move(found.left_out));
  }
  for (const auto& [kind, count] : left_out) parts.push_back(std::to_string(count) + " " + kind);
  contents.found.left_out = joined(parts, ", ");
  return contents;
}

/// Returns the index of the volume that stands for an archive: the only one, or the best where all others are
/// reconstructions of the same scan; none for other archives.
std::optional<std::size_t> index_of_one_scan(const std::vector<FoundVolume>& volumes) {
  const auto stands = [](const FoundVolume& volume) { return volume.better.empty(); };
  if (std::ranges::count_if(volumes, stands) != 1) return std::nullopt;
  return static_cast<std::size_t>(std::ranges::find_if(volumes, stands) - volumes.begin());
}

/// Returns the index of the volume that a path names: the one that stands for an archive, or the one with the address.
std::size_t index_in(const Contents& contents, const fs::path& path) {
  const auto& volumes = contents.found.volumes;
  if (is_in_archive(path)) {
    const auto at = std::find_if(volumes.begin(), volumes.end(), [&](const auto& v) { return v.path == path; });
    if (at != volumes.end()) return static_cast<std::size_t>(at - volumes.begin());
    throw input_error(path, "is no volume of that archive", "list its volumes: voxshard info ARCHIVE", "E_SERIES");
  }
  if (const auto index = index_of_one_scan(volumes)) return *index;
  const std::string left_out = contents.found.left_out.empty() ? "" : " (but " + contents.found.left_out + ")";
  if (volumes.empty())
    throw input_error(path, "holds no volume that is read" + left_out,
                      "expected DICOM images, or .nii, .nii.gz, .nrrd or .mha files", "E_SERIES");
  constexpr std::size_t kMostShown = 8;
  std::vector<std::string> addresses;
  for (std::size_t i = 0; i < std::min(kMostShown, volumes.size()); ++i) addresses.push_back(volumes[i].path.string());
  throw input_error(path, "holds " + std::to_string(volumes.size()) + " volumes",
                    "give one of them: " + joined(addresses, ", ") + (volumes.size() > kMostShown ? ", ..." : ""),
                    "E_SERIES");
}

/// Calls body(format, path) with the inner format and path of a volume in an archive.
template <class Body>
auto in_archive(const ArchiveReading& reading, const fs::path& path, Body body) {
  const auto channel = channel_in(path);
  const fs::path volume = channel ? channel->file : path;
  const Contents contents = contents_of(is_in_archive(volume) ? volume.parent_path() : volume, reading);
  fs::path inside = contents.inside[index_in(contents, volume)];
  if (channel)
    inside = channel_address(inside, static_cast<std::size_t>(channel->channel),
                             static_cast<std::size_t>(channel->channels));
  const auto format =
      std::find_if(reading.inner.begin(), reading.inner.end(), [&](const auto& f) { return f.matches(inside); });
  if (format == reading.inner.end())
    throw input_error(path, "holds no channels", "give files named CASE_0000, CASE_0001, ... or 4-D files", "E_SHAPE");
  return with_names_outside(contents.unpacked->folder, [&] { return body(*format, inside, contents); });
}

VolumeInfo read_archived_info(const ArchiveReading& reading, const fs::path& path) {
  return in_archive(reading, path, [&](const VolumeFormat& format, const fs::path& inside, const Contents& contents) {
    VolumeInfo info = format.read_header(inside);
    info.problem = contents.unpacked->folder.text_outside(info.problem);
    info.warning = contents.unpacked->folder.text_outside(info.warning);
    const auto& volumes = contents.found.volumes;
    if (!is_in_archive(file_of_channel(path)) && volumes.size() > 1)
      add_coded(info.warning,
                chosen_series_text(volumes.size(), volumes[index_in(contents, file_of_channel(path))].id));
    // It may be unpacked again before it is read; that memory is free when the voxels are allocated.
    const fs::path volume = file_of_channel(path);
    const std::int64_t unpacking = unpacking_bytes(is_in_archive(volume) ? volume.parent_path() : volume);
    info.extra_bytes = std::max(info.extra_bytes, unpacking - 4 * voxels_of(info.geometry));
    return info;
  });
}

/// Returns the hashes of the files of a volume, which were made when they were unpacked.
std::map<fs::path, std::string> archived_hashes(const ArchiveReading& reading, const fs::path& path) {
  return in_archive(reading, path, [](const VolumeFormat& format, const fs::path& inside, const Contents& contents) {
    std::map<fs::path, std::string> all, hashes;
    for (const UnpackedFile& file : contents.unpacked->files) all[file.path] = file.hash;
    for (const fs::path& file : format.files != nullptr ? format.files(inside) : std::vector<fs::path>{inside})
      if (const auto known = all.find(file); known != all.end()) hashes.insert(*known);
    return hashes;
  });
}

VolumeFormat format_of_archives(const ArchiveReading& reading) {
  using Path = const fs::path&;
  return {.name = "archive",
          .endings = {},
          .expected =
              "a .zip or .tar (also .tar.gz, .tgz, .tar.xz, .txz, .tar.zst, .tzst, .tar.bz2, .tbz2) of such files, "
              "ARCHIVE/#series=ID or ARCHIVE/#volume=ID as info lists them",
          .matches =
              [](Path path) {
                const fs::path volume = file_of_channel(path);
                return is_archive(volume) || is_in_archive(volume);
              },
          .read_header = [reading](Path path) { return read_archived_info(reading, path); },
          .read =
              [reading](Path path, DType dtype) {
                return in_archive(reading, path, [&](const VolumeFormat& format, Path inside, const Contents&) {
                  return format.read(inside, dtype);
                });
              },
          .write = nullptr,
          .check =
              [reading](Path path) {
                in_archive(reading, path, [](const VolumeFormat& format, Path inside, const Contents&) {
                  if (format.check != nullptr) format.check(inside);
                });
              },
          .holds = is_archive,
          .find = [reading](Path path) { return contents_of(path, reading).found; },
          .address_id = volume_id_in,
          .files =
              [reading](Path path) {
                return in_archive(reading, path, [](const VolumeFormat& format, Path inside, const Contents&) {
                  return format.files != nullptr ? format.files(inside) : std::vector<fs::path>{inside};
                });
              },
          .hashes = [reading](Path path) { return archived_hashes(reading, path); },
          .within =
              [reading](const VolumeLimits& limits) {
                std::vector<VolumeFormat> inner = reading.inner;
                for (VolumeFormat& format : inner)
                  if (format.within != nullptr) format = VolumeFormat(format.within(limits));
                return format_of_archives({.inner = std::move(inner), .limits = limits});
              }};
}

}  // namespace

VolumeFormat archive_format(std::vector<VolumeFormat> inner, const VolumeLimits& limits) {
  return format_of_archives({.inner = std::move(inner), .limits = limits});
}

std::vector<fs::path> archives_below(const fs::path& folder, const DicomWalk& walk) {
  std::vector<fs::path> archives;
  walk_folder(folder, walk, [&](const fs::directory_entry& entry) {
    if (is_archive_name(entry.path())) archives.push_back(entry.path());
    return true;
  });
  std::sort(archives.begin(), archives.end());
  return archives;
}

fs::path archived_file_address(const fs::path& archive, const std::string& hash) {
  return archive / (std::string(kFileMark) + hash);
}

fs::path containing_file(const fs::path& path) {
  return path.filename().string().starts_with(kFileMark) && is_in_archive(path) ? path.parent_path() : path;
}

OpenedFile::OpenedFile(const fs::path& path, const VolumeLimits& limits) : path_(path) {
  const std::string name = path.filename().string();
  if (!name.starts_with(kFileMark) || !is_in_archive(path)) return;
  archive_ = unpacked_within(path.parent_path(), limits);
  const auto at = std::ranges::find(archive_->files, name.substr(kFileMark.size()), &UnpackedFile::hash);
  if (at == archive_->files.end())
    throw input_error(path.parent_path(), "has changed: a file of it is not there any more", "start anew", "E_MISSING");
  path_ = at->path;
}

std::string OpenedFile::text_outside(const std::string& text) const {
  return archive_ == nullptr ? text : archive_->folder.text_outside(text);
}

std::optional<OpenedSeries> open_series(const fs::path& path, const VolumeLimits& limits) {
  if (!is_archive(path) && !is_in_archive(path)) {
    auto series = dicom_series_of(path);
    return series ? std::optional(OpenedSeries{.unpacked = nullptr, .series = std::move(*series)}) : std::nullopt;
  }
  const ArchivedStudy study = read_archived_study(is_archive(path) ? path : path.parent_path(), limits);
  const auto& all = study.found->series;
  const auto only = is_archive(path) ? series_of_one_scan(*study.found) : std::nullopt;
  for (const DicomSeries& series : all)
    if (only ? &series == &all[*only] : series_address(series).filename() == path.filename())
      return OpenedSeries{.unpacked = study.unpacked, .series = series};
  return std::nullopt;
}

ImageReference reference_of_image(const fs::path& path, const VolumeLimits& limits) {
  if (!is_archive(path) && !is_in_archive(path)) return image_reference(path);
  const auto opened = open_series(path, limits);
  if (!opened) return {};
  return {.series_uid = opened->series.common.series,
          .frame_of_reference_uid = opened->series.common.frame_of_reference};
}

ArchivedStudy read_archived_study(const fs::path& archive, const VolumeLimits& limits) {
  ArchivedStudy study{.unpacked = unpacked_within(archive, limits), .found = nullptr};
  study.found =
      with_names_outside(study.unpacked->folder, [&] { return find_dicom_series(study.unpacked->folder.path()); });
  study.others = static_cast<std::size_t>(
      std::ranges::count_if(study.unpacked->files, [](const UnpackedFile& file) { return !file.ending.empty(); }));
  return study;
}

}  // namespace voxshard

// The volumes of a folder with their case ids, for commands that work on plain folders.
//
//   const VolumeList list = list_volumes("predictions");
//   list.volumes[0]                              // "liver_03", predictions/liver_03.nii.gz
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "io/volume/volume.h"
#include "pipelines/engine/foreign_files.h"

namespace voxshard {

/// Returns the name of a volume file without its ending; none for other files, "._*" and temporary files.
std::optional<std::string> volume_id(const std::filesystem::path& path,
                                     const VolumeFormats& formats = volume_formats());

/// True for a folder with a file that is named like a volume.
bool holds_volume_files(const std::filesystem::path& folder, const VolumeFormats& formats = volume_formats());
/// Returns "16 files in imagesTr, 16 in labelsTr": the volume files of the folders in a folder; may be empty.
std::string files_in_folders(const std::filesystem::path& folder, const VolumeFormats& formats = volume_formats());

/// The volumes of a folder or an archive, sorted by id, then by path. Files with the same name but for the ending have
/// the same id: who needs one of each refuses them (E_DUPLICATE).
struct VolumeList {
  std::vector<FoundVolume> volumes;
  std::string left_out;  // what lies beside series, "1 localizer"; may be empty
  bool files = true;     // true: they are files, and series_beside() tells what else there is; false: DICOM series, and
                         // volumes of archives
};

/// Returns the volumes of a folder or an archive: its files or, when none is named like a volume, the DICOM series in
/// it and the folders in it, and the volumes of the archives there. Errors: kInput when the folder is missing or cannot
/// be read; kNoCase when it holds no volume.
VolumeList list_volumes(const std::filesystem::path& folder, const VolumeFormats& formats = volume_formats());

/// Takes those volumes out of a list that are another reconstruction of a scan than the one that stands for it
/// (FoundVolume::better), and returns them.
std::vector<FoundVolume> take_other_reconstructions(std::vector<FoundVolume>& volumes);
/// Returns lines that say which volumes are left out as other reconstructions, and how many; none for none.
std::vector<std::string> reconstruction_lines(const std::vector<FoundVolume>& others);
/// Returns [{"id": "ct_0c1a...", "reason": "another reconstruction of the scan of ct_77dd... (...)"}].
nlohmann::ordered_json reconstructions_json(const std::vector<FoundVolume>& others);

/// Returns the volumes of a folder and of the folders in it (files_below() in input_tree.h): files, DICOM series and
/// the volumes of archives, each of what lies beside the others. Files that belong to none of them become `foreign`,
/// and volumes of which a file is a link that leads out of the folder are left out. Errors: as list_volumes().
VolumeList list_volumes_below(const std::filesystem::path& folder, const VolumeFormats& formats, ForeignFiles& foreign);

/// Returns the files directly in a folder that are no part of its volumes, and counts the folders in it.
///   volumes  files of that folder
ForeignFiles foreign_beside(const std::vector<FoundVolume>& volumes, const std::filesystem::path& folder,
                            const VolumeFormats& formats = volume_formats());

/// Returns "2 DICOM series beside volume files; name their own folder" where a folder holds both, of which only the
/// files are taken; else empty. Errors: kInput.
std::string series_beside(const std::filesystem::path& folder, const VolumeFormats& formats = volume_formats());

}  // namespace voxshard

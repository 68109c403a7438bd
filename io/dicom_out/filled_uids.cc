#include "io/dicom_out/filled_uids.h"

#include <dcmtk/config/osconfig.h>  // before all other headers of DCMTK

#include <dcmtk/dcmdata/dctk.h>

#include <iterator>
#include <vector>

#include "io/dicom_out/derived_uid.h"
#include "io/dicom_out/object_file.h"

namespace voxshard {
namespace {

struct ImageClass {
  const char *modality, *sop_class;
};
constexpr ImageClass kImageClasses[] = {
    {"CT", UID_CTImageStorage}, {"MR", UID_MRImageStorage}, {"PT", UID_PositronEmissionTomographyImageStorage}};

std::string image_class(const std::string& modality) {
  for (const ImageClass& one : kImageClasses)
    if (modality == one.modality) return one.sop_class;
  return {};
}

/// Returns the first slice of each file of a series: names of files decide nothing.
std::vector<std::size_t> first_slices(const DicomSeries& series) {
  std::vector<std::size_t> first(series.files.size());
  for (std::size_t z = series.slices.size(); z-- > 0;) first.at(series.slices[z].file) = z;
  return first;
}

}  // namespace

bool fill_uids(SourceSeries& source, const std::string& input) {
  bool filled = false;
  const auto fill = [&](std::string& uid, const std::string& value) {
    if (!uid.empty() || value.empty()) return;
    uid = value, filled = true;
  };
  DicomHeader& h = source.series.common;
  fill(h.study, derived_uid("study of " + input));
  if (filled) put(*source.patient, DCM_StudyInstanceUID, h.study);
  fill(h.series, derived_uid("series of " + input));
  fill(h.frame_of_reference, derived_uid("frame of reference of " + input));
  const std::vector<std::size_t> first = first_slices(source.series);
  for (std::size_t i = 0; i < source.instances.size(); ++i) {
    SourceInstance& one = source.instances[i];
    if (source.series.files[i].frames == 1) fill(one.sop_class, image_class(h.modality));
    fill(one.uid, derived_uid("file " + std::to_string(first[i]) + " of " + input));
  }
  return filled;
}

}  // namespace voxshard

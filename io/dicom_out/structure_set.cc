#include "io/dicom_out/structure_set.h"

#include <dcmtk/config/osconfig.h>  // before all other headers of DCMTK

#include <dcmtk/dcmdata/dctk.h>

#include "io/dicom/dicom_library.h"
#include "io/dicom_out/derived_uid.h"
#include "io/dicom_out/mask_contours.h"
#include "io/dicom_out/object_file.h"

namespace voxshard {
namespace {

/// Colours of the regions, which programs show: far apart for the first ones, then again from the front.
constexpr const char* kColours[] = {"230\\25\\75",  "60\\180\\75",   "255\\225\\25", "0\\130\\200",
                                    "245\\130\\48", "145\\30\\180",  "70\\240\\240", "240\\50\\230",
                                    "210\\245\\60", "250\\190\\212", "0\\128\\128",  "220\\190\\255"};

class StructureSetMaker {
 public:
  StructureSetMaker(const SeriesLabels& labels, const SegmentTerms& terms, DcmItem& set)
      : l_(labels), source_(labels.source), grid_(labels.source.series.grid), set_(set) {
    describe();
    refer();
    std::vector<DcmItem*> drawn;  // the item of each label's contours; 0 has none
    drawn.push_back(nullptr);
    for (std::size_t label = 1; label < l_.classes.size(); ++label)
      drawn.push_back(&add_region(label, terms.of(l_.classes[label])));
    for (std::int64_t z = 0; z < grid_.size[2]; ++z) add_slice(z, drawn);
  }

 private:
  void describe() {
    finish_object(set_, source_,
                  {.sop_class = kStructureSetClass,
                   .instance = derived_uid("structure set of " + l_.key),
                   .series = derived_uid("series of structure set of " + l_.key),
                   .modality = "RTSTRUCT",
                   .series_number = "902",
                   .description = "voxshard structures, not for diagnostic use"});
    put(set_, DCM_FrameOfReferenceUID, source_.series.common.frame_of_reference);
    put(set_, DCM_PositionReferenceIndicator, source_.position_reference);
    put(set_, DCM_OperatorsName, "");
    put(set_, DCM_StructureSetLabel, kMaker);
    put(set_, DCM_StructureSetDescription, kNotForDiagnosis);
    put(set_, DCM_StructureSetDate, source_.date);
    put(set_, DCM_StructureSetTime, source_.time);
    put(set_, DCM_ApprovalStatus, "UNAPPROVED");
  }

  /// Names the frame of reference, the study, the series and its files.
  void refer() {
    constexpr const char* kDetachedStudyClass = "1.2.840.10008.3.1.2.3.1";
    DcmItem& frame = add_item(set_, DCM_ReferencedFrameOfReferenceSequence);
    put(frame, DCM_FrameOfReferenceUID, source_.series.common.frame_of_reference);
    DcmItem& study = add_item(frame, DCM_RTReferencedStudySequence);
    put(study, DCM_ReferencedSOPClassUID, kDetachedStudyClass);
    put(study, DCM_ReferencedSOPInstanceUID, source_.series.common.study);
    DcmItem& series = add_item(study, DCM_RTReferencedSeriesSequence);
    put(series, DCM_SeriesInstanceUID, source_.series.common.series);
    refer_to_instances(series, DCM_ContourImageSequence, source_);
  }

  DcmItem& add_region(std::size_t label, const SegmentTerm& term) {
    const std::string number = std::to_string(label);
    DcmItem& region = add_item(set_, DCM_StructureSetROISequence);
    put(region, DCM_ROINumber, number);
    put(region, DCM_ReferencedFrameOfReferenceUID, source_.series.common.frame_of_reference);
    put(region, DCM_ROIName, short_text(l_.classes[label], source_.is_utf8));
    put(region, DCM_ROIDescription, kNotForDiagnosis);
    put(region, DCM_ROIGenerationAlgorithm, "AUTOMATIC");
    put(region, DCM_ROIGenerationDescription, std::string(kMaker) + " " + VOXSHARD_VERSION);
    DcmItem& drawn = add_item(set_, DCM_ROIContourSequence);
    put(drawn, DCM_ROIDisplayColor, kColours[(label - 1) % std::size(kColours)]);
    put(drawn, DCM_ReferencedROINumber, number);
    DcmItem& observed = add_item(set_, DCM_RTROIObservationsSequence);
    put(observed, DCM_ObservationNumber, number);
    put(observed, DCM_ReferencedROINumber, number);
    put(observed, DCM_RTROIInterpretedType, term.category.code == kAnatomy ? "ORGAN" : "");
    put(observed, DCM_ROIInterpreter, "");
    add_code(observed, DCM_RTROIIdentificationCodeSequence, term.type);
    return drawn;
  }

  void add_slice(std::int64_t z, const std::vector<DcmItem*>& drawn) {
    const std::int64_t rows = grid_.size[1], columns = grid_.size[0];
    const std::int32_t* slice = l_.labels.as<std::int32_t>() + z * rows * columns;
    const std::vector<ClassExtent> extents = class_extents(slice, rows, columns, l_.classes.size());
    std::vector<std::uint8_t> mask;
    for (std::size_t label = 1; label < extents.size(); ++label) {
      const ClassExtent& e = extents[label];
      if (e.pixels == 0) continue;
      mask.clear();
      for (std::int64_t y = e.first_row; y <= e.last_row; ++y)
        for (std::int64_t x = e.first_column; x <= e.last_column; ++x)
          mask.push_back(slice[y * columns + x] == static_cast<std::int32_t>(label));
      const auto contours = mask_contours(mask, e.last_row - e.first_row + 1, e.last_column - e.first_column + 1);
      for (const PixelContour& contour : contours) add_contour(*drawn[label], z, contour, e);
    }
  }

  void add_contour(DcmItem& drawn, std::int64_t z, const PixelContour& contour, const ClassExtent& extent) {
    const DicomSlice& slice = source_.series.slices.at(z);
    const DicomFile& file = source_.series.files.at(slice.file);
    const SourceInstance& instance = source_.instances.at(slice.file);
    DcmItem& item = add_item(drawn, DCM_ContourSequence);
    DcmItem& image = add_item(item, DCM_ContourImageSequence);
    put(image, DCM_ReferencedSOPClassUID, instance.sop_class);
    put(image, DCM_ReferencedSOPInstanceUID, instance.uid);
    if (file.frames > 1) put(image, DCM_ReferencedFrameNumber, std::to_string(slice.frame + 1));
    put(item, DCM_ContourGeometricType, "CLOSED_PLANAR");
    put(item, DCM_NumberOfContourPoints, std::to_string(contour.size()));
    std::string points;
    for (const auto& corner : contour) {
      const double x = (static_cast<double>(extent.first_column + corner[0]) - 0.5) * grid_.spacing[0],
                   y = (static_cast<double>(extent.first_row + corner[1]) - 0.5) * grid_.spacing[1];
      std::array<double, 3> world{};
      for (std::size_t r = 0; r < 3; ++r)
        world[r] = slice.at[r] + grid_.direction[3 * r] * x + grid_.direction[3 * r + 1] * y;
      points += (points.empty() ? "" : "\\") + decimals_text(world.data(), 3);
    }
    put(item, DCM_ContourData, points);
  }

  static constexpr const char* kAnatomy = "123037004";  // SNOMED CT: anatomical structure
  const SeriesLabels& l_;
  const SourceSeries& source_;
  const DicomGrid& grid_;
  DcmItem& set_;
};

}  // namespace

std::int64_t structure_set_bytes(const Tensor& labels, std::int64_t frames) {
  // A run of voxels in a row has at most four corners of its own, and behind a hole those of its keyhole. A run that
  // touches none of its class in the row before it may begin a contour: an item with two others in it and six elements.
  constexpr std::int64_t kRunPoints = 8, kPointBytes = 80, kContourBytes = 2560, kFrameBytes = 16 << 10;
  const std::int64_t rows = labels.shape()[1], columns = labels.shape()[2];
  const auto* row = labels.as<std::int32_t>();
  std::int64_t runs = 0, contours = 0;
  for (std::int64_t line = 0; line < labels.shape()[0] * rows; ++line, row += columns)
    for (std::int64_t x = 0; x < columns;) {
      const std::int32_t label = row[x];
      bool joins = label <= 0;
      for (; x < columns && row[x] == label; ++x) joins = joins || (line % rows > 0 && row[x - columns] == label);
      runs += label > 0, contours += !joins;
    }
  return runs * kRunPoints * kPointBytes + contours * kContourBytes + frames * kFrameBytes;
}

void write_structure_set(const std::filesystem::path& path, const SeriesLabels& labels, const SegmentTerms& terms) {
  const DicomLibrary library;
  DcmFileFormat file;
  StructureSetMaker(labels, terms, *file.getDataset());
  write_object(path, file, true);  // the points of a contour may be more than 64 KiB
}

}  // namespace voxshard

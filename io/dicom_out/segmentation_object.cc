#include "io/dicom_out/segmentation_object.h"

#include <dcmtk/config/osconfig.h>  // before all other headers of DCMTK

#include <dcmtk/dcmdata/dctk.h>
#include <dcmtk/dcmfg/fgderimg.h>
#include <dcmtk/dcmfg/fgfracon.h>
#include <dcmtk/dcmfg/fgpixmsr.h>
#include <dcmtk/dcmfg/fgplanor.h>
#include <dcmtk/dcmfg/fgplanpo.h>
#include <dcmtk/dcmseg/segdoc.h>
#include <dcmtk/dcmseg/segment.h>

#include <algorithm>

#include "io/dicom/dicom_library.h"
#include "io/dicom_out/derived_uid.h"
#include "io/dicom_out/object_file.h"
#include "io/files/file_error.h"

namespace voxshard {
namespace {

constexpr const char* kSeriesNumber = "901";

CodeSequenceMacro code_of(const CodedTerm& term) {
  return CodeSequenceMacro(term.code.c_str(), term.scheme.c_str(), term.meaning.c_str());
}

/// The label map as slices of the series.
class LabelSlices {
 public:
  explicit LabelSlices(const SeriesLabels& labels)
      : labels_(labels),
        rows_(labels.source.series.grid.size[1]),
        columns_(labels.source.series.grid.size[0]),
        slices_(labels.source.series.grid.size[2]) {}
  std::int64_t rows() const { return rows_; }
  std::int64_t columns() const { return columns_; }
  std::int64_t slices() const { return slices_; }
  const std::int32_t* slice(std::int64_t z) const { return labels_.labels.as<std::int32_t>() + z * rows_ * columns_; }
  std::vector<ClassExtent> extents(std::int64_t z) const {
    return class_extents(slice(z), rows_, columns_, labels_.classes.size());
  }

 private:
  const SeriesLabels& labels_;
  std::int64_t rows_, columns_, slices_;
};

/// Makes one object: first what all frames share, then frame by frame.
class SegmentationMaker {
 public:
  SegmentationMaker(const SeriesLabels& labels, const SegmentTerms& terms, const SegmentPart& part)
      : l_(labels), part_(part), source_(labels.source), slices_(labels) {
    begin();
    for (std::size_t label = part_.first; label <= part_.last; ++label) add_segment(label, terms.of(l_.classes[label]));
    share_geometry();
    add_frames();
  }

  /// Writes what was made into a data set.
  void write(DcmDataset& set) {
    require_good(made_->writeDataset(set), "a segmentation that DCMTK writes");
    leave_frames(set);
    const SegmentationUids uids = segmentation_uids(l_.key, part_);
    finish_object(set, source_,
                  {.sop_class = kSegmentationClass,
                   .instance = uids.instance,
                   .series = uids.series,
                   .modality = "SEG",
                   .series_number = kSeriesNumber,
                   .description = "voxshard segmentation, not for diagnostic use"});
    if (part_.number > 0) put(set, DCM_InstanceNumber, std::to_string(part_.number));
    // DCMTK 3.6.7 shifts frames wrongly where their pixels are no multiple of 8.
    require_good(set.putAndInsertUint8Array(DCM_PixelData, bits_.data(), bits_.size()), "the pixels of a segmentation");
    put(set, DCM_SegmentsOverlap, "NO");
    // DCMTK takes names in ASCII alone.
    for (std::size_t label = part_.first; label <= part_.last; ++label) {
      DcmItem* segment = nullptr;
      require_good(
          set.findAndGetSequenceItem(DCM_SegmentSequence, segment, static_cast<long>(part_.segment(label) - 1)),
          "a segment");
      const std::string name = short_text(l_.classes[label], source_.is_utf8);
      put(*segment, DCM_SegmentLabel, name);
      put(*segment, DCM_TrackingID, name);
    }
    put(set, DCM_ContentDate, source_.date);
    put(set, DCM_ContentTime, source_.time);
    put(set, DCM_FrameOfReferenceUID, source_.series.common.frame_of_reference);
    put(set, DCM_PositionReferenceIndicator, source_.position_reference);
    set.findAndDeleteElement(DCM_ReferencedSeriesSequence);
    DcmItem& series = add_item(set, DCM_ReferencedSeriesSequence);
    put(series, DCM_SeriesInstanceUID, source_.series.common.series);
    refer_to_instances(series, DCM_ReferencedInstanceSequence, source_);
  }

 private:
  void begin() {
    DcmSegmentation* made = nullptr;
    const ContentIdentificationMacro content("1", "SEGMENTATION", kNotForDiagnosis, kMaker);
    require_good(DcmSegmentation::createBinarySegmentation(
                     made, static_cast<Uint16>(slices_.rows()), static_cast<Uint16>(slices_.columns()),
                     IODGeneralEquipmentModule::EquipmentInfo(kMaker, kMaker, "1", VOXSHARD_VERSION), content),
                 "a segmentation that DCMTK makes");
    made_.reset(made);
    // Each frame gets what is required below; the checks compare all frames with each other.
    made_->setCheckFGOnWrite(OFFalse);
    made_->setCheckDimensionsOnWrite(OFFalse);
    DcmDataset header(*source_.patient);
    put(header, DCM_FrameOfReferenceUID, source_.series.common.frame_of_reference);
    put(header, DCM_PositionReferenceIndicator, source_.position_reference);
    require_good(made_->importFromSourceImage(header, OFTrue), "patient and study of a segmentation");
    require_good(made_->getSegmentationSeriesModule().setSeriesNumber(kSeriesNumber), "the number of a series");
    const std::string organisation = derived_uid("dimensions of " + l_.key);
    IODMultiframeDimensionModule& dimensions = made_->getDimensions();
    require_good(dimensions.addDimensionIndex(DCM_ReferencedSegmentNumber, organisation.c_str(),
                                              DCM_SegmentIdentificationSequence, "Segment"),
                 "a dimension of a segmentation");
    require_good(dimensions.addDimensionIndex(DCM_ImagePositionPatient, organisation.c_str(), DCM_PlanePositionSequence,
                                              "Position of the slice"),
                 "a dimension of a segmentation");
  }

  void add_segment(std::size_t label, const SegmentTerm& term) {
    DcmSegment* segment = nullptr;
    require_good(DcmSegment::create(segment, "segment", code_of(term.category), code_of(term.type),
                                    DcmSegTypes::SAT_AUTOMATIC, kMaker),
                 "a segment");
    segment->setSegmentDescription(kNotForDiagnosis, OFFalse);
    segment->setTrackingID("segment", OFFalse);
    segment->setTrackingUID(derived_uid("segment " + std::to_string(label) + " of " + l_.key).c_str());
    if (term.side)
      segment->getSegmentedPropertyTypeModifierCode().push_back(new CodeSequenceMacro(code_of(*term.side)));
    AlgorithmIdentificationMacro algorithm;
    algorithm.getAlgorithmFamilyCode().set("123110", "DCM", "Artificial Intelligence");
    algorithm.setAlgorithmName(kMaker);
    algorithm.setAlgorithmVersion(VOXSHARD_VERSION);
    require_good(segment->setSegmentationAlgorithmIdentification(algorithm), "the algorithm of a segment");
    Uint16 number = 0;
    require_good(made_->addSegment(segment, number), "a segment that is added");
    ensure(number == part_.segment(label), "segments are numbered in the order of the labels");
  }

  void share_geometry() {
    const DicomGrid& grid = source_.series.grid;
    const double spacing[] = {grid.spacing[1], grid.spacing[0]};  // between rows, between columns
    FGPixelMeasures measures;
    measures.setPixelSpacing(decimals_text(spacing, 2).c_str());
    measures.setSliceThickness(decimal_text(grid.spacing[2]).c_str());
    measures.setSpacingBetweenSlices(decimal_text(grid.spacing[2]).c_str());
    require_good(made_->addForAllFrames(measures), "the spacing of a segmentation");
    FGPlaneOrientationPatient orientation;
    const auto cosine = [&](std::size_t axis, std::size_t world) {
      return OFString(decimal_text(grid.direction[3 * world + axis]).c_str());
    };
    orientation.setImageOrientationPatient(cosine(0, 0), cosine(0, 1), cosine(0, 2), cosine(1, 0), cosine(1, 1),
                                           cosine(1, 2));
    require_good(made_->addForAllFrames(orientation), "the orientation of a segmentation");
  }

  /// Adds the frames of one segment after those of another.
  void add_frames() {
    std::vector<std::vector<ClassExtent>> extents;  // by slice
    std::size_t frames = 0;
    for (std::int64_t z = 0; z < slices_.slices(); ++z) {
      extents.push_back(slices_.extents(z));
      for (std::size_t label = part_.first; label <= part_.last; ++label) frames += extents.back()[label].pixels > 0;
    }
    std::vector<Uint8> mask(static_cast<std::size_t>(slices_.rows() * slices_.columns()));
    bits_.assign((frames * mask.size() + 15) / 16 * 2, 0);  // of even length
    std::size_t bit = 0;
    for (std::size_t label = part_.first; label <= part_.last; ++label)
      for (std::int64_t z = 0; z < slices_.slices(); ++z) {
        if (extents[z][label].pixels == 0) continue;
        const std::int32_t* from = slices_.slice(z);
        for (std::size_t i = 0; i < mask.size(); ++i, ++bit) {
          mask[i] = from[i] == static_cast<std::int32_t>(label);
          bits_[bit / 8] = static_cast<Uint8>(bits_[bit / 8] | (mask[i] << (bit % 8)));
        }
        add_frame(label, z, mask.data());
      }
    // DCMTK refuses fewer frames than segments: further ones are added, which leave_frames() takes out again.
    frames_ = frames;
    for (; frames > 0 && frames < part_.last - part_.first + 1; ++frames) add_frame(part_.first, 0, mask.data());
  }

  /// Takes the frames out that were added for DCMTK alone; their pixels are replaced with those of all frames.
  void leave_frames(DcmDataset& set) const {
    DcmSequenceOfItems* groups = nullptr;
    require_good(set.findAndGetSequence(DCM_PerFrameFunctionalGroupsSequence, groups), "frames of a segmentation");
    while (groups->card() > frames_) delete groups->remove(groups->card() - 1);
    put(set, DCM_NumberOfFrames, std::to_string(frames_));
  }

  void add_frame(std::size_t label, std::int64_t z, Uint8* mask) {
    const DicomSlice& slice = source_.series.slices.at(z);
    const DicomFile& file = source_.series.files.at(slice.file);
    const SourceInstance& instance = source_.instances.at(slice.file);
    FGPlanePosPatient position;
    position.setImagePositionPatient(decimal_text(slice.at[0]).c_str(), decimal_text(slice.at[1]).c_str(),
                                     decimal_text(slice.at[2]).c_str());
    FGFrameContent content;
    content.setDimensionIndexValues(static_cast<Uint32>(part_.segment(label)), 0);
    content.setDimensionIndexValues(static_cast<Uint32>(z + 1), 1);
    FGDerivationImage derivation;
    DerivationImageItem* made_from = nullptr;
    require_good(derivation.addDerivationImageItem(CodeSequenceMacro("113076", "DCM", "Segmentation"), "", made_from),
                 "the source of a frame");
    auto* image = new SourceImageItem;  // of the item, which deletes it
    made_from->getSourceImageItems().push_back(image);
    image->getPurposeOfReferenceCode().set("121322", "DCM", "Source image for image processing operation");
    ImageSOPInstanceReferenceMacro& reference = image->getImageSOPInstanceReference();
    reference.setReferencedSOPClassUID(instance.sop_class.c_str());
    reference.setReferencedSOPInstanceUID(instance.uid.c_str());
    if (file.frames > 1) reference.addReferencedFrameNumber(static_cast<Uint16>(slice.frame + 1));
    OFVector<FGBase*> groups;
    groups.push_back(&position), groups.push_back(&content), groups.push_back(&derivation);
    require_good(made_->addFrame(mask, static_cast<Uint16>(part_.segment(label)), groups), "a frame that is added");
  }

  const SeriesLabels& l_;
  const SegmentPart part_;
  const SourceSeries& source_;
  LabelSlices slices_;
  std::unique_ptr<DcmSegmentation> made_;
  std::vector<Uint8> bits_;  // the pixels of all frames, one behind the other, the first in the lowest bit
  std::size_t frames_ = 0;   // that have a voxel
};

}  // namespace

SegmentationUids segmentation_uids(const std::string& key, const SegmentPart& part) {
  if (part.number == 0)
    return {.instance = derived_uid("segmentation of " + key),
            .series = derived_uid("series of segmentation of " + key)};
  const std::string all = "segmentation by " + std::to_string(part.most) + " segments of " + key;
  return {.instance = derived_uid("part " + std::to_string(part.number) + " of " + all),
          .series = derived_uid("series of " + all)};
}

std::vector<std::int64_t> segmentation_frames(const SeriesLabels& labels) {
  const LabelSlices slices(labels);
  std::vector<std::int64_t> frames(labels.classes.size());
  for (std::int64_t z = 0; z < slices.slices(); ++z) {
    const std::vector<ClassExtent> extents = slices.extents(z);
    for (std::size_t label = 1; label < extents.size(); ++label) frames[label] += extents[label].pixels > 0;
  }
  return frames;
}

std::int64_t segmentation_bytes(std::int64_t frames, std::int64_t rows, std::int64_t columns) {
  constexpr std::int64_t kDescriptionBytes = 48 << 10;
  return frames * (4 * (rows * columns / 8 + 1) + kDescriptionBytes);
}

void write_segmentation(const std::filesystem::path& path, const SeriesLabels& labels, const SegmentTerms& terms,
                        const SegmentPart& part) {
  const DicomLibrary library;
  if (labels.classes.size() > 65536)
    throw input_error(path, "would have more than 65535 segments", "predict fewer classes", "E_LIMIT");
  SegmentationMaker maker(labels, terms, part);
  DcmFileFormat file;
  maker.write(*file.getDataset());
  write_object(path, file, false);
}

}  // namespace voxshard

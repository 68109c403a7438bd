#include "io/dicom_out/measurement_report.h"

#include <dcmtk/config/osconfig.h>  // before all other headers of DCMTK

#include <dcmtk/dcmdata/dctk.h>
#include <dcmtk/dcmsr/cmr/tid1500.h>
#include <dcmtk/dcmsr/dsrdoc.h>

#include <algorithm>

#include "io/dicom/dicom_library.h"
#include "io/dicom_out/derived_uid.h"
#include "io/dicom_out/object_file.h"
#include "io/dicom_out/segmentation_object.h"

namespace voxshard {
namespace {

constexpr const char* kReportClass = "1.2.840.10008.5.1.4.1.1.88.22";  // Enhanced SR

DSRCodedEntryValue entry_of(const CodedTerm& term) {
  return DSRCodedEntryValue(term.code.c_str(), term.scheme.c_str(), term.meaning.c_str());
}

class ReportMaker {
 public:
  ReportMaker(const SeriesLabels& labels, const SegmentTerms& terms, const ReportContent& content)
      : l_(labels), c_(content), source_(labels.source) {
    begin();
    bool first = true;
    for (std::size_t label = 1; label < l_.classes.size(); ++label) {
      if (!is_measured(label)) continue;
      if (!first) require_good(report_.addVolumetricROIMeasurements(), "a group of measurements");
      add_group(label, terms.of(l_.classes[label]), c_.numbers[label]);
      first = false;
    }
    for (const ReportFlag& flag : c_.flags)
      if (!is_measured(flag.label))
        require_good(report_.addQualitativeEvaluation(concept_of(flag), sentence_of(flag)), "a flag of a report");
  }

  void write(DcmDataset& set) {
    DSRDocument document;
    require_good(document.setTreeFromRootTemplate(report_), "the tree of a report");
    if (source_.is_utf8) document.setSpecificCharacterSetType(DSRTypes::CS_UTF8);
    refer(document.getCurrentRequestedProcedureEvidence());
    require_good(document.completeDocument(), "a report that is complete");
    require_good(document.write(set), "a report that DCMTK writes");
    const std::size_t most = c_.parts.front().most;
    const std::string named = most == 0 ? l_.key : l_.key + " by " + std::to_string(most) + " segments";
    finish_object(set, source_,
                  {.sop_class = kReportClass,
                   .instance = derived_uid("report of " + named + text_of_flags()),
                   .series = derived_uid("series of report of " + named),
                   .modality = "SR",
                   .series_number = "903",
                   .description = "voxshard measurements, not for diagnostic use"});
    put(set, DCM_ContentDate, source_.date);
    put(set, DCM_ContentTime, source_.time);
  }

 private:
  bool is_measured(std::size_t label) const { return label > 0 && c_.numbers.at(label).volume_ml > 0; }
  static DSRCodedEntryValue concept_of(const ReportFlag& flag) {
    return DSRCodedEntryValue(flag.code.c_str(), kFlagScheme, ("Quality flag " + flag.code).c_str());
  }
  OFString sentence_of(const ReportFlag& flag) const {
    return OFString(long_text(flag.what + ".", source_.is_utf8).c_str());
  }

  /// Returns the flags for the UID of the report: how much memory there is decides whether parts are counted.
  std::string text_of_flags() const {
    std::string text;
    for (const ReportFlag& flag : c_.flags)
      text += "\n" + flag.code + " " + std::to_string(flag.label) + " " + flag.what;
    return text;
  }

  void begin() {
    require_good(
        report_.createNewMeasurementReport(CMR_CID7021::ImagingMeasurementReport, CMR_CID100::ImagingProcedure),
        "a report that DCMTK makes");
    require_good(report_.setLanguage(DSRCodedEntryValue("eng", "RFC5646", "English")), "the language of a report");
    const std::string device = derived_uid(std::string(kMaker) + " " + VOXSHARD_VERSION);
    require_good(report_.getObservationContext().addDeviceObserver(device.c_str(), "voxshard, not for diagnostic use",
                                                                   kMaker, kMaker, VOXSHARD_VERSION),
                 "the observer of a report");
  }

  /// Lists the segmentation and the files of the series, which the report is about.
  void refer(DSRSOPInstanceReferenceList& evidence) const {
    const DicomHeader& h = source_.series.common;
    for (const SegmentPart& part : c_.parts) {
      const SegmentationUids uids = segmentation_uids(l_.key, part);
      require_good(evidence.addItem(h.study.c_str(), uids.series.c_str(), kSegmentationClass, uids.instance.c_str()),
                   "the segmentation of a report");
    }
    for (const SourceInstance& one : source_.instances)
      require_good(evidence.addItem(h.study.c_str(), h.series.c_str(), one.sop_class.c_str(), one.uid.c_str()),
                   "an image of a report");
  }

  void add_group(std::size_t label, const SegmentTerm& term, const ClassNumbers& numbers) {
    CMR_TID1411_in_TID1500& group = report_.getVolumetricROIMeasurements();
    const std::string name = short_text(l_.classes[label], source_.is_utf8);
    require_good(group.setTrackingIdentifier(name.c_str(), OFFalse), "the name of a group");
    const std::string uid = derived_uid("segment " + std::to_string(label) + " of " + l_.key);
    require_good(group.setTrackingUniqueIdentifier(uid.c_str()), "the UID of a group");
    require_good(group.setFinding(entry_of(term.type)), "the finding of a group");
    const auto part =
        std::find_if(c_.parts.begin(), c_.parts.end(), [&](const SegmentPart& one) { return one.holds(label); });
    ensure(part != c_.parts.end(), "a class with voxels is in a file of the segmentation");
    DSRImageReferenceValue segment(kSegmentationClass, segmentation_uids(l_.key, *part).instance.c_str());
    segment.getSegmentList().addItem(static_cast<Uint16>(part->segment(label)));
    require_good(group.setReferencedSegment(segment), "the segment of a group");
    require_good(group.setSourceSeriesForSegmentation(source_.series.common.series.c_str()), "the series of a group");
    if (term.side)
      require_good(group.addFindingSite(entry_of(term.type), CMR_CID244e(entry_of(*term.side))), "the site of a group");
    add(group, CMR_CID7469::Volume, numbers.volume_ml, CMR_CID7181::CubicCentimeter, std::nullopt);
    if (numbers.mean_hu)
      add(group, CMR_CID7469::AttenuationCoefficient, *numbers.mean_hu, CMR_CID7181::HounsfieldUnit, CMR_CID7464::Mean);
    if (numbers.deviation_hu)
      add(group, CMR_CID7469::AttenuationCoefficient, *numbers.deviation_hu, CMR_CID7181::HounsfieldUnit,
          CMR_CID7464::StandardDeviation);
    if (numbers.diameter_mm)
      add(group, CMR_CID7469::Diameter, *numbers.diameter_mm, CMR_CID7181::Millimeter, CMR_CID7464::Maximum);
    for (const ReportFlag& flag : c_.flags)
      if (flag.label == label)
        require_good(group.addQualitativeEvaluation(concept_of(flag), sentence_of(flag)), "a flag of a group");
  }

  static void add(CMR_TID1411_in_TID1500& group, CMR_CID7469::EnumType quantity, double value,
                  CMR_CID7181::EnumType unit, std::optional<CMR_CID7464::EnumType> derivation) {
    const CMR_TID1411_in_TID1500::MeasurementValue number(decimal_text(value).c_str(), unit);
    require_good(group.addMeasurement(quantity, number), "a measurement");
    CMR_TID1419_in_TID1411_in_TID1500& measurement = group.getMeasurement();
    if (derivation) require_good(measurement.setDerivation(*derivation), "the derivation of a measurement");
    require_good(measurement.setAlgorithmIdentification(kMaker, VOXSHARD_VERSION), "the algorithm of a measurement");
  }

  const SeriesLabels& l_;
  const ReportContent& c_;
  const SourceSeries& source_;
  CMR_TID1500 report_;
};

}  // namespace

void write_measurement_report(const std::filesystem::path& path, const SeriesLabels& labels, const SegmentTerms& terms,
                              const ReportContent& content) {
  const DicomLibrary library;
  ReportMaker maker(labels, terms, content);
  DcmFileFormat file;
  maker.write(*file.getDataset());
  write_object(path, file, false);
}

}  // namespace voxshard

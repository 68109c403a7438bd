// The outputs of `predict` beside the label map of a case: DICOM objects on the slices of its series, and measures.
//
//   CaseOutputs outputs({.asked = written_outputs("dicom-seg,measures"), .terms = "", .classes = names}, batch);
//   const CaseOutputs::Opened opened = outputs.open(item, labels, keys, 0);    // says what cannot be written, and why
//   folder.begin(item.id, opened.files);
//   outputs.write(item, labels, opened, flags, refused);
//   folder.commit(item.id, data);
//   outputs.say(item, refused);
//   outputs.send(item, keys);                                                  // with an outbox: places the objects
//   outputs.finish();
//
// The headers of a series are read when its label map is there, and released with it: while a case is predicted nothing
// of them is held. What cannot be written costs that output alone (W_OUTPUT); the label map stays.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>

#include "io/datasets/dataset.h"
#include "io/dicom_out/segment_parts.h"
#include "io/dicom_out/segment_terms.h"
#include "io/dicom_out/source_series.h"
#include "io/volume/archive.h"
#include "pipelines/engine/prediction.h"
#include "pipelines/tasks/segmentation/outputs/case_sending.h"
#include "pipelines/tasks/segmentation/outputs/made_hash.h"
#include "pipelines/tasks/segmentation/outputs/written_outputs.h"
#include "pipelines/tasks/segmentation/quality/quality_rules.h"

namespace voxshard {

/// The member of the report that lists outputs which could not be written.
inline constexpr const char* kNotWritten = "not_written";
/// The member of the report that lists cases whose objects may not be sent.
inline constexpr const char* kHeldCases = "held";

struct OutputChoice {
  WrittenOutputs asked = {};
  std::filesystem::path terms = {};       // file of coded terms; empty: the table that is built in
  std::size_t most_segments = 0;          // of a file, as segment_parts() takes it
  std::vector<std::string> classes = {};  // by label, the background first
  bool hounsfield = false;                // the images are CT
  std::filesystem::path outbox = {};      // where objects are placed to be sent; empty: nowhere
  bool fill_uids = false;                 // empty UIDs of a series are filled
};

class CaseOutputs {
 public:
  /// Reads the terms, and says which classes have none. Errors: kConfig for a malformed file of terms; kUsage for an
  /// outbox, or UIDs that are filled, without a DICOM output.
  CaseOutputs(OutputChoice choice, PredictionBatch& batch);

  /// Returns the hash of a run and its settings together with what decides the outputs beside the label map; the same
  /// hash when none is asked for.
  std::string settings_hash(const std::string& run) const;
  /// Returns made_hash() of a case together with whether its UIDs are filled: cases without them alone are made anew
  /// when that is asked for. Errors: kInput.
  std::string data_hash(const Case& item, const PredictionTurn& turn, const std::vector<std::string>& hashes) const;
  /// Opens the outbox, if there is one. Errors: kOutput.
  void begin();

  /// What can be written of a case.
  struct Opened {
    std::set<std::string> files;  // their names in the output folder
    WrittenOutputs possible = {};
    std::optional<OpenedSeries> from = {};    // keeps the files of an archive
    std::optional<SourceSeries> source = {};  // where a DICOM object can be written
    std::string reason = {}, code = {};       // why none can be; else empty
    std::vector<SegmentPart> parts = {};      // the files of the segmentation
    std::string key = {};                     // of which UIDs are made, as uid_key() gives it
    std::int64_t bytes = 0;                   // that writing the largest of them takes beside the label map
  };
  /// Opens the series of a case and plans the memory of its outputs; says in the log and the report what cannot be
  /// written. Errors: none of the input; those of the system.
  ///   labels  the label map as it is written
  ///   keys    hashes of input and run, of which UIDs are made with that of the label map
  ///   beside_bytes  memory that the case holds beside the label map
  Opened open(const Case& item, const Volume& labels, const ObjectKeys& keys, std::int64_t beside_bytes);
  /// Writes them into the output folder. An error of the input costs the output that it came from. Errors: kOutput.
  /// Threads: one, which may be another than that of the batch.
  ///   flags    of the label map
  ///   refused  gets the outputs that cannot be written, for say()
  void write(const Case& item, const Volume& labels, const Opened& opened, const std::vector<QualityFlag>& flags,
             std::vector<RefusedOutput>& refused) const;
  /// Says in the log and the report which outputs of a case were not written.
  void say(const Case& item, const std::vector<RefusedOutput>& refused);
  /// Returns and logs which outputs of a case could not be written, as far as its headers tell.
  ///   kept  an earlier call predicted it
  std::vector<RefusedOutput> foretell(const Case& item, bool kept);

  /// Places the objects of a case that is complete in the outbox, unless they are there or were sent; what may not be
  /// sent is held, and said in the log and the report. Errors: kOutput; kInput for a label map that is gone.
  void send(const Case& item, const ObjectKeys& keys);
  /// Says of a case that an earlier call predicted what that call could not write.
  void keep(const Case& item);
  /// Writes the measures of all cases of the report, where they are asked for.
  void finish();

 private:
  /// Opens the series of a case, and says in `opened` why no object can be made on it for labels on that grid.
  ///   input  a hash of its files, of which empty UIDs are made
  void open_source(const Case& item, const Geometry& labels, const std::string& input, Opened& opened);
  /// Returns the files of one output of a case that are there.
  ///   ending  null: of the segmentation, in one file or several
  std::vector<std::filesystem::path> written_files(const Case& item, const char* ending) const;
  void refuse(const Case& item, std::string_view output, const std::string& code, const std::string& reason);
  /// Drops outputs whose memory the budget does not leave.
  void require_memory(const Case& item, const Volume& labels, std::int64_t beside_bytes, Opened& opened);
  /// Calls body; an error of the input leaves the output out. Returns whether there was none.
  static bool attempt(const Case& item, std::string_view output, std::vector<RefusedOutput>& refused,
                      const std::function<void()>& body);
  /// Removes what an earlier call wrote of the case: an output that fails now must not leave that of an earlier input.
  void remove_earlier(const Opened& opened) const;
  std::filesystem::path file(const Case& item, const std::string& ending) const;

  std::string key_of_objects(const ObjectKeys& keys) const;
  std::string by_segments() const { return " by " + std::to_string(choice_.most_segments) + " segments"; }

  OutputChoice choice_;
  PredictionBatch& b_;
  std::optional<CaseSending> sending_;
  std::optional<SegmentTerms> own_;
  const SegmentTerms& terms() const { return own_ ? *own_ : SegmentTerms::builtin(); }
};

}  // namespace voxshard

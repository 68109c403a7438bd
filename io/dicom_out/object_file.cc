#include "io/dicom_out/object_file.h"

#include <dcmtk/config/osconfig.h>  // before all other headers of DCMTK

#include <dcmtk/dcmdata/dcostrma.h>
#include <dcmtk/dcmdata/dctk.h>
#include <dcmtk/dcmdata/dcwcache.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <limits>

#include "io/dicom/dicom_library.h"
#include "io/dicom_out/segment_terms.h"
#include "io/files/atomic_file.h"
#include "io/files/file_error.h"
#include "libcore/base/plain_text.h"

namespace voxshard {

namespace fs = std::filesystem;

namespace {

/// Passes what DCMTK writes on to a stream, which keeps the error of its last bytes: a file of DCMTK's own closes
/// itself without a word about them.
class StreamConsumer : public DcmConsumer {
 public:
  explicit StreamConsumer(std::ostream& out) : out_(out) {}
  OFBool good() const override { return out_.good(); }
  OFCondition status() const override { return out_.good() ? EC_Normal : EC_InvalidStream; }
  OFBool isFlushed() const override { return OFTrue; }
  offile_off_t avail() const override { return std::numeric_limits<std::int32_t>::max(); }  // as DCMTK's own
  offile_off_t write(const void* bytes, offile_off_t count) override {
    out_.write(static_cast<const char*>(bytes), static_cast<std::streamsize>(count));
    return out_.good() ? count : 0;
  }
  void flush() override {}

 private:
  std::ostream& out_;
};

class ObjectStream : public DcmOutputStream {
 public:
  explicit ObjectStream(StreamConsumer& consumer) : DcmOutputStream(&consumer) {}
};

/// Returns a text on one line, of at most so many characters.
std::string object_text(const std::string& any, std::size_t most, bool is_utf8) {
  const std::string plain = plain_text(any);
  std::string text;
  std::size_t characters = 0;
  for (std::size_t at = 0; at < plain.size() && characters < most; ++characters) {
    const std::size_t bytes = std::max<std::size_t>(1, character_bytes(std::string_view(plain).substr(at)));
    if (bytes == 1)
      text += plain[at] == '\\' ? '/' : plain[at];
    else
      text += is_utf8 ? plain.substr(at, bytes) : "?";
    at += bytes;
  }
  return text;
}

}  // namespace

void require_good(const OFCondition& condition, const char* what) {
  if (condition.bad())
    throw Error(ErrorKind::kInput, std::string("[dicom] the headers of the series do not allow ") + what +
                                       "; see whether its UIDs and texts are valid");
}

void put(DcmItem& set, const DcmTagKey& tag, const std::string& value) {
  require_good(set.putAndInsertOFStringArray(tag, OFString(value.c_str())), "a DICOM element that is inserted");
}

DcmItem& add_item(DcmItem& set, const DcmTagKey& sequence) {
  DcmItem* item = nullptr;
  require_good(set.findOrCreateSequenceItem(sequence, item, -2), "a DICOM item that is appended");
  return *item;
}

void add_code(DcmItem& set, const DcmTagKey& sequence, const CodedTerm& term) {
  DcmItem& item = add_item(set, sequence);
  put(item, DCM_CodeValue, term.code);
  put(item, DCM_CodingSchemeDesignator, term.scheme);
  put(item, DCM_CodeMeaning, term.meaning);
}

void finish_object(DcmItem& set, const SourceSeries& source, const ObjectNames& names) {
  for (DcmObject* one = source.patient->nextInContainer(nullptr); one != nullptr;
       one = source.patient->nextInContainer(one))
    require_good(set.insert(dynamic_cast<DcmElement*>(one->clone()), true), "an element of the patient");
  for (const DcmTagKey& clock :
       {DCM_InstanceCreationDate, DCM_InstanceCreationTime, DCM_InstanceCreatorUID, DCM_SeriesDate, DCM_SeriesTime})
    set.findAndDeleteElement(clock);
  put(set, DCM_SOPClassUID, names.sop_class);
  put(set, DCM_SOPInstanceUID, names.instance);
  put(set, DCM_SeriesInstanceUID, names.series);
  put(set, DCM_SeriesNumber, names.series_number);
  put(set, DCM_SeriesDescription, names.description);
  put(set, DCM_InstanceNumber, "1");
  put(set, DCM_Modality, names.modality);
  put(set, DCM_Manufacturer, kMaker);
  put(set, DCM_ManufacturerModelName, kMaker);
  put(set, DCM_SoftwareVersions, VOXSHARD_VERSION);
}

void refer_to_instances(DcmItem& set, const DcmTagKey& sequence, const SourceSeries& source) {
  for (const SourceInstance& one : source.instances) {
    DcmItem& item = add_item(set, sequence);
    put(item, DCM_ReferencedSOPClassUID, one.sop_class);
    put(item, DCM_ReferencedSOPInstanceUID, one.uid);
  }
}

void write_object(const fs::path& path, DcmFileFormat& file, bool implicit) {
  const DicomLibrary library;
  const E_TransferSyntax syntax = implicit ? EXS_LittleEndianImplicit : EXS_LittleEndianExplicit;
  write_file_atomically(path, [&](std::ostream& out) {
    StreamConsumer consumer(out);
    ObjectStream stream(consumer);
    DcmWriteCache cache;
    file.transferInit();
    const OFCondition written = file.write(stream, syntax, EET_ExplicitLength, &cache, EGL_recalcGL);
    file.transferEnd();
    if (written.bad())
      throw output_error(path, "the file did not reach the disk whole",
                         "check that the folder exists, is writable and has space");
  });
}

std::string decimal_text(double value) {
  char text[40];
  for (int digits = 15; digits > 0; --digits)
    if (std::snprintf(text, sizeof text, "%.*g", digits, value) <= 16) break;
  return text;
}

std::string decimals_text(const double* values, std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += (i > 0 ? "\\" : "") + decimal_text(values[i]);
  return text;
}

std::string short_text(const std::string& name, bool is_utf8) { return object_text(name, 64, is_utf8); }

std::string long_text(const std::string& sentence, bool is_utf8) { return object_text(sentence, 1024, is_utf8); }

}  // namespace voxshard

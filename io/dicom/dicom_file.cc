#include "io/dicom/dicom_file.h"

#include <dcmtk/config/osconfig.h>  // before all other headers of DCMTK

#include <dcmtk/dcmdata/dcistrmf.h>
#include <dcmtk/dcmdata/dctk.h>

#include <cstdlib>

#include "io/dicom/dicom_library.h"
#include "io/files/file_error.h"
#include "io/files/open_file.h"

namespace voxshard {
namespace {

/// DCMTK parses sequences within sequences by recursion: 200 KB of them would overflow the stack. Objects of the
/// standard nest less than ten levels; this is room for some hundred.
constexpr std::ptrdiff_t kMostStackBytes = 256 << 10;

/// A file that ends where its parser stands too deep in the stack.
class ShallowStream : public DcmInputFileStream {
 public:
  explicit ShallowStream(const char* path) : DcmInputFileStream(path) {}
  OFBool good() const override { return !too_deep_ && DcmInputFileStream::good(); }
  OFCondition status() const override { return too_deep_ ? EC_InvalidStream : DcmInputFileStream::status(); }
  offile_off_t read(void* buffer, offile_off_t bytes) override {
    const auto* here = static_cast<const char*>(__builtin_frame_address(0));
    too_deep_ = too_deep_ || std::abs(begin_ - here) > kMostStackBytes;
    return too_deep_ ? 0 : DcmInputFileStream::read(buffer, bytes);
  }
  bool too_deep() const { return too_deep_; }

 private:
  const char* begin_ = static_cast<const char*>(__builtin_frame_address(0));
  bool too_deep_ = false;
};

}  // namespace

void CloseDicom::operator()(DcmFileFormat* file) const { delete file; }

OpenDicom open_dicom(const std::filesystem::path& path, std::uint32_t most_loaded, std::uint32_t end_tag) {
  const DicomLibrary library;
  require_regular_file(path);
  OpenDicom open{decltype(open.file)(new DcmFileFormat)};
  ShallowStream in(path.c_str());
  open.file->transferInit();
  open.whole = in.good() &&
               open.file
                   ->readUntilTag(in, EXS_Unknown, EGL_noChange, most_loaded,
                                  DcmTagKey(static_cast<Uint16>(end_tag >> 16), static_cast<Uint16>(end_tag & 0xFFFF)))
                   .good();
  open.file->transferEnd();
  if (in.too_deep())
    throw input_error(path, "has sequences in sequences, deeper than is read", "export it again", "E_LIMIT");
  if (open.file->getDataset()->card() == 0)
    throw input_error(path, "cannot be read as DICOM", "copy or export the file again");
  return open;
}

}  // namespace voxshard

#include "io/dicom/jpeg2000.h"

#include <openjpeg.h>

#include <algorithm>
#include <cstring>
#include <memory>

namespace voxshard {
namespace {

/// A stream in memory that OpenJPEG reads.
struct MemoryStream {
  std::string_view bytes;
  std::size_t at = 0;

  static OPJ_SIZE_T read(void* to, OPJ_SIZE_T count, void* self) {
    auto& stream = *static_cast<MemoryStream*>(self);
    const std::size_t taken = std::min<std::size_t>(count, stream.bytes.size() - stream.at);
    if (taken == 0) return static_cast<OPJ_SIZE_T>(-1);  // the end
    std::memcpy(to, stream.bytes.data() + stream.at, taken);
    stream.at += taken;
    return taken;
  }
  static OPJ_OFF_T skip(OPJ_OFF_T count, void* self) {
    auto& stream = *static_cast<MemoryStream*>(self);
    if (count < 0 || static_cast<std::size_t>(count) > stream.bytes.size() - stream.at) return -1;
    stream.at += static_cast<std::size_t>(count);
    return count;
  }
  static OPJ_BOOL seek(OPJ_OFF_T to, void* self) {
    auto& stream = *static_cast<MemoryStream*>(self);
    if (to < 0 || static_cast<std::size_t>(to) > stream.bytes.size()) return OPJ_FALSE;
    stream.at = static_cast<std::size_t>(to);
    return OPJ_TRUE;
  }
};

template <auto kDestroy>
struct Destroy {
  void operator()(auto* object) const { kDestroy(object); }
};

}  // namespace

std::optional<Jpeg2000Image> decode_jpeg2000(std::string_view stream,
                                             const std::function<void(const Jpeg2000Image&)>& check) {
  constexpr std::string_view kJp2("\x00\x00\x00\x0cjP  \r\n\x87\n", 12);  // ISO/IEC 15444-1, I.5.1
  MemoryStream memory{stream};
  const std::unique_ptr<opj_stream_t, Destroy<opj_stream_destroy>> source(
      opj_stream_create(std::size_t{1} << 16, OPJ_TRUE));
  const std::unique_ptr<opj_codec_t, Destroy<opj_destroy_codec>> codec(
      opj_create_decompress(stream.starts_with(kJp2) ? OPJ_CODEC_JP2 : OPJ_CODEC_J2K));
  if (!source || !codec) throw std::bad_alloc();
  opj_stream_set_user_data(source.get(), &memory, nullptr);
  opj_stream_set_user_data_length(source.get(), stream.size());
  opj_stream_set_read_function(source.get(), MemoryStream::read);
  opj_stream_set_skip_function(source.get(), MemoryStream::skip);
  opj_stream_set_seek_function(source.get(), MemoryStream::seek);
  opj_dparameters_t parameters;
  opj_set_default_decoder_parameters(&parameters);
  opj_image_t* read = nullptr;
  const bool begun = opj_setup_decoder(codec.get(), &parameters) == OPJ_TRUE &&
                     opj_read_header(source.get(), codec.get(), &read) == OPJ_TRUE;
  const std::unique_ptr<opj_image_t, Destroy<opj_image_destroy>> image(read);
  if (!begun || !image || image->numcomps < 1) return std::nullopt;
  const opj_image_comp_t& grey = image->comps[0];
  Jpeg2000Image result{.columns = grey.w,
                       .rows = grey.h,
                       .components = image->numcomps,
                       .bits = static_cast<int>(grey.prec),
                       .is_signed = grey.sgnd != 0};
  check(result);
  if (opj_decode(codec.get(), source.get(), image.get()) != OPJ_TRUE ||
      opj_end_decompress(codec.get(), source.get()) != OPJ_TRUE || grey.data == nullptr || grey.w != result.columns ||
      grey.h != result.rows)
    return std::nullopt;
  result.samples.assign(grey.data, grey.data + result.columns * result.rows);
  return result;
}

}  // namespace voxshard

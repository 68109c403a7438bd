#include "io/image/codecs.h"

#include <dlfcn.h>

#include <new>
#include <opencv2/imgcodecs.hpp>
#include <string>
#include <type_traits>
#include <vector>

#include "io/image/opencv_threads.h"
#include "libcore/base/error.h"

namespace voxshard {
namespace {

using Decode = cv::Mat (*)(cv::InputArray bytes, int flags);
using Encode = bool (*)(const cv::String& ending, cv::InputArray image, std::vector<uchar>& bytes,
                        const std::vector<int>& parameters);

static_assert(std::is_same_v<Decode, decltype(static_cast<Decode>(&cv::imdecode))>);
static_assert(std::is_same_v<Encode, decltype(&cv::imencode)>);

Error not_loaded() {
  return {ErrorKind::kConfig,
          std::string("[image] pictures can be neither read nor written here: ") + ::dlerror() +
              "; it is of the package of OpenCV that voxshard was built with, and wants some 40 MiB"};
}

/// The two functions of OpenCV, by their names in the C++ ABI: another version of them, with other parameters, has
/// others.
struct Codecs {
  Codecs() {
    void* const library = ::dlopen(VOXSHARD_IMGCODECS, RTLD_LAZY | RTLD_LOCAL);
    if (library == nullptr) throw not_loaded();
    const auto find = [&](auto& function, const char* name) {
      void* const found = ::dlsym(library, name);
      if (found == nullptr) throw not_loaded();
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(found);
    };
    find(decode, "_ZN2cv8imdecodeERKNS_11_InputArrayEi");
    find(encode,
         "_ZN2cv8imencodeERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEERKNS_11_InputArrayERSt6vectorIhSaIhEE"
         "RKSB_IiSaIiEE");
  }

  Decode decode = nullptr;
  Encode encode = nullptr;
};

const Codecs& codecs() {
  static const Codecs loaded;
  opencv_on_this_thread();
  return loaded;
}

}  // namespace

cv::Mat decoded_picture(const std::string& bytes) {
  const cv::Mat buffer(1, static_cast<int>(bytes.size()), CV_8U, const_cast<char*>(bytes.data()));
  try {
    return codecs().decode(buffer, cv::IMREAD_COLOR | cv::IMREAD_ANYDEPTH);
  } catch (const cv::Exception& e) {
    if (e.code == cv::Error::StsNoMem) throw std::bad_alloc();
    return {};
  }
}

std::string encoded_picture(const std::string& ending, const cv::Mat& bgr) {
  std::vector<uchar> bytes;
  codecs().encode(ending, bgr, bytes, {cv::IMWRITE_PNG_COMPRESSION, 6, cv::IMWRITE_JPEG_QUALITY, 95});
  return {bytes.begin(), bytes.end()};
}

}  // namespace voxshard

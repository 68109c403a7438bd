#include "io/image/opencv_threads.h"

#include <opencv2/core.hpp>

namespace voxshard {

void opencv_on_this_thread() { [[maybe_unused]] static const bool once = (cv::setNumThreads(1), true); }

}  // namespace voxshard

// OpenCV starts threads of its own unless told; here they are the runtime's. Each file of io/ that calls one of its
// parallel functions says this first.
//
//   opencv_on_this_thread();
#pragma once

namespace voxshard {

/// From the first call on OpenCV works on the thread that called it. Threads: any number at once.
void opencv_on_this_thread();

}  // namespace voxshard

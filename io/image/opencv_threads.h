// Stops OpenCV from starting threads of its own; all threads belong to the runtime. Each file of io/ that uses a
// parallel function of OpenCV calls this first.
//
//   opencv_on_this_thread();
#pragma once

namespace voxshard {

/// Makes OpenCV run on the calling thread from now on, in the whole process. Threads: any number at once.
void opencv_on_this_thread();

}  // namespace voxshard

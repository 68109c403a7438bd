// True in a build with a sanitizer that has shadow memory: the shadow is part of the peak, but of no memory plan.
#pragma once

namespace voxshard::test {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kShadowed = true;
#else
inline constexpr bool kShadowed = false;
#endif

}  // namespace voxshard::test

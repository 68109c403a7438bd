// Whether this is a build with a sanitizer that shadows memory: its shadow is part of a peak, and of no plan.
#pragma once

namespace voxshard::test {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kShadowed = true;
#else
inline constexpr bool kShadowed = false;
#endif

}  // namespace voxshard::test

// The factor by which Winograd's transforms enlarge the rounding of a sum, for comparisons with the direct sum of
// products.
#pragma once

#include "libcore/kernels/winograd/tiles.h"

namespace voxshard::winograd {

/// The error of a result in units of the error of its products' direct sum; the product over the axes that have a
/// kernel. For values of either sign: each of the transformed products m_j of an axis has its own error, proportional
/// to the norms of the rows that made it; a result adds them by its row A of the last transform:
///
///   growth of an axis = max over results of sqrt(sum_j A_j^2 |G_j|^2 |B_j|^2) / products of a result, at least 1
///
///   forward, input gradient  F(4, 3): 1.54 per axis (3.24 with the points 1 and 2), F(2, 3): 1
///   weight gradient          F(4, 3): 1.22, F(2, 3): 1
/// Source: B. Barabasz et al., Error analysis and improving the accuracy of Winograd convolution, ACM TOMS 46 (2020),
/// theorem 1, whose matrix norms bound the worst case; here row by row, in the mean square.
double growth_of(const TileForm& form);
double weight_gradient_growth_of(const TileForm& form);

}  // namespace voxshard::winograd

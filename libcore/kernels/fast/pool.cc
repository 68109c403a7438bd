#include "libcore/kernels/pool.h"
namespace voxshard::fast {
void max_pool(const TensorView& x, const TensorView& y, const Window& window, const Shape& global) { reference::max_pool(x, y, window, global); }
void max_pool_argmax(const TensorView& x, const TensorView& arg, const Window& window, const Shape& global) { reference::max_pool_argmax(x, arg, window, global); }
void max_pool_grad(const TensorView& arg, const TensorView& d_y, const TensorView& d_x, const Window& window) { reference::max_pool_grad(arg, d_y, d_x, window); }
void avg_pool(const TensorView& x, const TensorView& y, const Window& window, const Shape& global) { reference::avg_pool(x, y, window, global); }
void avg_pool_grad(const TensorView& d_y, const TensorView& d_x, const Window& window, const Shape& global) { reference::avg_pool_grad(d_y, d_x, window, global); }
void upsample_nearest(const TensorView& x, const TensorView& y, const Dims& factor) { reference::upsample_nearest(x, y, factor); }
void upsample_nearest_grad(const TensorView& d_y, const TensorView& d_x, const Dims& factor) { reference::upsample_nearest_grad(d_y, d_x, factor); }
}

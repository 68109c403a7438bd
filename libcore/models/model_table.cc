// The one place that lists the models.
#include "libcore/models/retinanet.h"
#include "libcore/models/unet.h"

namespace voxshard {

const ModelTable& model_table() {
  static const ModelTable table = {std::make_shared<Model>(unet("unet3d", 3)),
                                   std::make_shared<Model>(unet("unet2d", 2)), std::make_shared<Model>(retinanet())};
  return table;
}

}  // namespace voxshard

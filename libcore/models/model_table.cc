// The one place that lists the models.
#include "libcore/models/digits.h"
#include "libcore/models/resnet3d.h"
#include "libcore/models/resnet_classifier.h"
#include "libcore/models/retinanet.h"
#include "libcore/models/unet.h"

namespace voxshard {

const ModelTable& model_table() {
  static const ModelTable table = [] {
    ModelTable rows;
    for (Model& model : std::vector<Model>{unet("unet3d", 3), unet("unet2d", 2), retinanet(), digits(),
                                           resnet_classifier("resnet18", Backbone::kResNet18),
                                           resnet_classifier("resnet34", Backbone::kResNet34),
                                           resnet_classifier("resnet50", Backbone::kResNet50),
                                           resnet3d("resnet3d18", false), resnet3d("r2plus1d18", true)})
      rows.push_back(std::make_shared<Model>(std::move(model)));
    return rows;
  }();
  return table;
}

}  // namespace voxshard

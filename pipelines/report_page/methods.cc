#include "pipelines/report_page/methods.h"

#include <algorithm>

#include "libcore/base/text.h"
#include "pipelines/report_page/html.h"
#include "pipelines/report_page/page_facts.h"
#include "pipelines/report_page/score_words.h"

namespace voxshard {
namespace {

struct CitedWork {
  const char* key;
  const char* reference;
};
constexpr CitedWork kWorks[] = {
    {"unet",
     "Cicek O, Abdulkadir A, Lienkamp SS, Brox T, Ronneberger O. 3D U-Net: Learning Dense Volumetric Segmentation from "
     "Sparse Annotation. MICCAI 2016, LNCS 9901, 424-432."},
    {"retinanet",
     "Lin T-Y, Goyal P, Girshick R, He K, Dollar P. Focal Loss for Dense Object Detection. ICCV 2017, 2980-2988."},
    {"resnet", "He K, Zhang X, Ren S, Sun J. Deep Residual Learning for Image Recognition. CVPR 2016, 770-778."},
    {"r2plus1d",
     "Tran D, Wang H, Torresani L, Ray J, LeCun Y, Paluri M. A Closer Look at Spatiotemporal Convolutions for Action "
     "Recognition. CVPR 2018, 6450-6459."},
    {"instance",
     "Ulyanov D, Vedaldi A, Lempitsky V. Instance Normalization: The Missing Ingredient for Fast "
     "Stylization. arXiv:1607.08022, 2016."},
    {"batch",
     "Ioffe S, Szegedy C. Batch Normalization: Accelerating Deep Network Training by Reducing Internal "
     "Covariate Shift. ICML 2015, 448-456."},
    {"dice",
     "Milletari F, Navab N, Ahmadi S-A. V-Net: Fully Convolutional Neural Networks for Volumetric Medical Image "
     "Segmentation. 3DV 2016, 565-571."},
    {"log_dice",
     "Wong KCL, Moradi M, Tang H, Syeda-Mahmood T. 3D Segmentation with Exponential Logarithmic Loss for Highly "
     "Unbalanced Object Sizes. MICCAI 2018, LNCS 11072, 612-619."},
    {"supervision", "Lee C-Y, Xie S, Gallagher P, Zhang Z, Tu Z. Deeply-Supervised Nets. AISTATS 2015, 562-570."},
    {"ensemble",
     "Lakshminarayanan B, Pritzel A, Blundell C. Simple and Scalable Predictive Uncertainty Estimation using Deep "
     "Ensembles. NeurIPS 2017, 6402-6413."},
    {"adam", "Kingma DP, Ba J. Adam: A Method for Stochastic Optimization. ICLR 2015."},
    {"clipping",
     "Pascanu R, Mikolov T, Bengio Y. On the difficulty of training recurrent neural networks. ICML 2013, "
     "1310-1318."},
    {"nnunet",
     "Isensee F, Jaeger PF, Kohl SAA, Petersen J, Maier-Hein KH. nnU-Net: a self-configuring method for deep "
     "learning-based biomedical image segmentation. Nature Methods 18, 203-211, 2021."},
    {"partitioning",
     "Hou L, Cheng Y, Shazeer N, Parmar N, Li Y, Korfiatis P, Drucker TM, Blezek DJ, Song X. High "
     "Resolution Medical Image Analysis with Spatial Partitioning. arXiv:1909.03108, 2019."},
    {"bf16",
     "Kalamkar D, Mudigere D, Mellempudi N, et al. A Study of BFLOAT16 for Deep Learning Training. "
     "arXiv:1905.12322, 2019."},
    {"coco",
     "Lin T-Y, Maire M, Belongie S, et al. Microsoft COCO: Common Objects in Context. ECCV 2014, LNCS 8693, "
     "740-755."},
};

/// Numbers works in the order in which they are cited.
class Citations {
 public:
  /// " [2]".
  std::string operator()(std::string_view key) {
    const auto* work = std::ranges::find(kWorks, key, [](const CitedWork& one) { return std::string_view(one.key); });
    if (work == std::end(kWorks)) return "";
    const auto it = std::ranges::find(references, work->reference);
    const auto number = it - references.begin() + 1;
    if (it == references.end()) references.emplace_back(work->reference);
    return " [" + std::to_string(number) + "]";
  }
  std::vector<std::string> references;
};

/// The parts of the text; each reads the facts that it names.
class Writer {
 public:
  explicit Writer(const RunData& run) : run_(run) {}

  Methods write() {
    std::string text;
    for (const auto part : {&Writer::trained, &Writer::prepared, &Writer::minimised, &Writer::cut, &Writer::found})
      text += (this->*part)();  // in this order, which is that of the citations
    return {.text = std::move(text), .references = std::move(cite_.references)};
  }

 private:
  std::string f(const std::string& pointer) const { return fact(run_.facts, pointer); }
  bool is(const std::string& pointer, std::string_view value) const { return f(pointer) == value; }
  /// Returns a clause around a fact; nothing when the fact is missing.
  std::string clause(const std::string& before, const std::string& pointer, const std::string& after = "") const {
    const std::string value = f(pointer);
    return value.empty() ? "" : before + value + after;
  }
  double number(const std::string& pointer) const { return number_fact(run_.facts, pointer).value_or(0); }
  /// "12 cases", "1 case".
  static std::string counted(const std::string& count, const char* one) {
    return count + " " + one + (count == "1" ? "" : "s");
  }

  std::string model() {
    const std::string name = f("/model/model");
    if (name == "unet3d")
      return "A 3D U-Net" + cite_("unet") + clause(" of depth ", "/model/depth") +
             clause(" with ", "/model/base_filters", " filters at the first level");
    if (name == "retinanet") {
      const std::string name_and_work = "RetinaNet" + cite_("retinanet");
      return name_and_work + " on " + f("/model/backbone") + cite_("resnet");
    }
    if (name.starts_with("r2plus1d")) return "The classifier " + name + cite_("r2plus1d");
    if (name.starts_with("resnet")) return "The classifier " + name + cite_("resnet");
    return "The model " + name;
  }

  std::string trained() {
    std::string text = model();
    if (is("/model/norm", "instance")) text += ", instance normalisation" + cite_("instance");
    if (is("/model/norm", "batch")) text += ", batch normalisation" + cite_("batch");
    text += " was trained on " + counted(f("/training/cases"), "case");
    if (const std::string held = f("/report/validation_cases"); !held.empty() && held != "0")
      text += " and validated on " + counted(held, "other");
    return text + " with voxshard " + f("/version") + ". ";
  }

  std::string prepared() {
    std::string text;
    const auto& spacing = part_of(run_.facts, "/preparation/spacing_mm");
    if (spacing.is_array() && spacing.size() == 3) {
      std::vector<std::string> sizes;
      for (const auto& one : spacing) sizes.push_back(one.is_number() ? fixed_text(one.get<double>(), 2) : "-");
      const bool kept = part_of(run_.facts, "/preparation/kept_spacings_mm").is_array();
      const std::string target = joined(sizes, " x ") + " mm";
      text += "Images were oriented to " + f("/preparation/orientation") +
              (kept ? ", and those whose spacing was not near the median, " + target + ", resampled to it. "
                    : " and resampled to " + target + ". ");
    }
    const std::string rule = f("/preparation/normalise");
    const std::string clipped =
        "Intensities were clipped to " + f("/preparation/clip_hu/0") + " to " + f("/preparation/clip_hu/1") + " HU";
    const std::string normalised = "normalised by mean and standard deviation of the foreground";
    if (rule == "ct")
      text += clipped + " and " + normalised + ", as in nnU-Net" + cite_("nnunet") + ". ";
    else if (rule == "soft_tissue")
      text += clipped + ", moved to a tenth of their distance from -200 to 300 HU where they were beyond, and " +
              normalised + " behind that. ";
    else if (!rule.empty() && rule != "none")
      text += "Intensities were normalised by the rule " + rule + ". ";
    return text;
  }

  std::string loss() {
    const std::string name = f("/model/loss");
    if (name == "dice_ce") return "The sum of Dice loss" + cite_("dice") + " and cross-entropy";
    if (name == "log_dice_ce")
      return "The sum of the negative logarithm of Dice" + cite_("log_dice") + " and cross-entropy";
    if (name.find("dice") != std::string::npos) return "The loss " + name + cite_("dice");
    if (is("/model/model", "retinanet")) return "The sum of focal loss and Huber loss of the boxes";
    return name.empty() ? "The loss" : "The loss " + name;
  }

  std::string minimised() {
    const std::string optimizer = f("/training/optimizer");
    std::string text = loss();
    const auto& deep = part_of(run_.facts, "/model/deep_supervision");
    if (deep.is_boolean() && deep.get<bool>()) text += ", with deep supervision" + cite_("supervision") + ",";
    text += " was minimised";
    if (number("/model/members") > 1)
      text += " for each of " + f("/model/members") + " networks, of which the mean of the logits" + cite_("ensemble") +
              " predicts,";
    if (!optimizer.empty()) text += " by " + optimizer + (optimizer == "adam" ? cite_("adam") : "");
    text += clause(" with a learning rate of ", "/training/learning_rate") +
            clause(" and the schedule ", "/training/schedule") + " in " + counted(f("/training/steps"), "step") +
            " of " + counted(f("/training/batch"), "sample");
    const std::string crop = f("/training/crop");
    const std::string ends = number("/training/whole_steps") > 0
                                 ? ", the last " + counted(f("/training/whole_steps"), "step") + " on whole images"
                                 : "";
    if (!crop.empty()) text += crop == "whole" ? " (whole images)" : " (crops of " + crop + ends + ")";
    if (number("/training/clip_norm") > 0)
      text += ", gradients clipped to a norm of " + f("/training/clip_norm") + cite_("clipping");
    const std::string augment = f("/training/augment");
    if (!augment.empty() && augment != "none") text += ", samples changed by the augmentation " + augment;
    return text + clause(", seed ", "/training/seed") + ". ";
  }

  std::string cut() {
    std::string text;
    const std::string partition = f("/model/partition");
    if (partition.find_first_not_of("1x") != std::string::npos)
      text += "Each sample was cut spatially over cores by the grid " + partition +
              ", with halos exchanged between them" + cite_("partitioning") + ". ";
    if (is("/model/precision", "bf16"))
      text += "Products were of bfloat16, sums of single precision" + cite_("bf16") + ". ";
    return text;
  }

  std::string found() {
    const ValidationData* best = run_.best();
    if (best == nullptr) return "";
    std::string metric = run_.metric;
    if (metric == "ap50") metric = "average precision at an IoU of 0.5" + cite_("coco");
    if (metric == "dice") metric = "Dice coefficient";
    return "The best validation (" + title_of(*best) + ") had a mean " + metric + " of " + fixed_text(best->score) +
           "; the checkpoint was chosen by it. ";
  }

  const RunData& run_;
  Citations cite_;
};

}  // namespace

Methods methods_of(const RunData& run) { return Writer(run).write(); }

std::string methods_section(const RunData& run) {
  const Methods methods = methods_of(run);
  std::string html = "<section id=\"methods\"><h2>Methods</h2>\n<p>" + html_text(methods.text) + "</p>\n<ol>\n";
  for (const std::string& reference : methods.references) html += "<li>" + html_text(reference) + "</li>\n";
  return html + "</ol>\n</section>\n";
}

}  // namespace voxshard

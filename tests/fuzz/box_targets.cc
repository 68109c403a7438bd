// Readers of boxes: annotations and results.
#include "io/boxes/coco.h"
#include "io/boxes/kitti.h"
#include "io/boxes/mot.h"
#include "io/boxes/mot_sequence.h"
#include "io/boxes/voc.h"
#include "pipelines/tasks/detection/dataset/detection_dataset.h"
#include "tests/fuzz/fuzz_target.h"

namespace voxshard {
namespace {

using Seeds = std::vector<std::string>;

void coco(std::string_view bytes) { read_coco(scratch_file("coco.json", bytes)); }
Seeds coco_seeds() {
  Seeds seeds = {
      R"({"images": [{"id": 1, "file_name": "a.png", "width": 32, "height": 16}, {"id": 2, "file_name": "clip.mp4", "frame_index": 3},
          {"id": 3, "video_id": 1, "frame_id": 4}], "videos": [{"id": 1, "name": "b.mp4"}],
          "categories": [{"id": 3, "name": "cell"}], "annotations": [{"id": 1, "image_id": 1, "category_id": 3, "bbox": [1, 2, 3.5, 4],
          "area": 14, "iscrowd": 0, "segmentation": [[1, 2, 3, 4]]}, {"image_id": 2, "category_id": 3, "bbox": [0, 0, NaN, 1]}]})"};
  for (std::string& seed : data_seeds("detection", {".json"}, 300'000)) seeds.push_back(std::move(seed));
  return seeds;
}

void coco_results(std::string_view bytes) {
  static const DetectionDataset truth = read_coco(scratch_file("truth.json", coco_seeds()[0]));
  read_coco_results(scratch_file("found.json", bytes), truth);
}
Seeds result_seeds() {
  return {R"([{"image_id": 1, "category_id": 3, "bbox": [1, 2, 3, 4], "score": 0.5}, {"image_id": 9}])"};
}

void voc(std::string_view bytes) {
  const auto page = scratch_file("voc/Annotations/a.xml", bytes);
  read_voc(page.parent_path().parent_path());
}
Seeds voc_seeds() {
  Seeds seeds = {
      "<?xml version=\"1.0\"?><annotation><filename>a.jpg</filename><size><width>32</width><height>16</height></size>"
      "<object><name>cell &amp; "
      "&#65;</name><difficult>1</difficult><bndbox><xmin>1</xmin><ymin>2</ymin><xmax>9.5</xmax>"
      "<ymax>9</ymax></bndbox></object><!-- c --><![CDATA[x]]></annotation>"};
  for (std::string& seed : data_seeds("detection", {".xml"}, 20'000)) seeds.push_back(std::move(seed));
  return seeds;
}

/// The input is the list of a data set's images.
void voc_set(std::string_view bytes) {
  const auto list = scratch_file("voc/ImageSets/Main/train.txt", bytes);
  read_voc_set(list.parent_path().parent_path().parent_path(), "train");
}
Seeds voc_set_seeds() { return {"a\nb 1\r\nc -1\n\n../../x\n"}; }

/// The input is annotations with their images beside them, used as in training: found, checked, clipped, split.
void detection_set(std::string_view bytes) {
  const auto file = scratch_file("detection/annotations.json", bytes);
  static const bool made = [&] {
    for (const char* name : {"a.png", "b.png"}) {
      scratch_file(std::string("detection/") + name, "");
      write_rgb(file.parent_path() / name, Tensor(DType::kU8, {16, 32, 3}));
    }
    return true;
  }();
  ensure(made, "the pictures are there");
  for (const DetectionUse use : {DetectionUse::kScoring, DetectionUse::kTraining})
    true_boxes(split_detection_dataset(read_detection_dataset(file, use), 0.5, 1).val);
}
Seeds detection_set_seeds() {
  return {R"({"images": [{"id": 1, "file_name": "a.png", "width": 32, "height": 16}, {"id": 2, "file_name": "b.png"}],
          "categories": [{"id": 3, "name": "cell"}], "annotations": [{"id": 1, "image_id": 1, "category_id": 3, "bbox": [1, 2, 3.5, 4],
          "area": 14, "iscrowd": 0}, {"image_id": 2, "category_id": 3, "bbox": [-2, 10, 99, 99], "iscrowd": 1}]})"};
}

void kitti(std::string_view bytes) {
  const auto page = scratch_file("kitti/label_2/000000.txt", bytes);
  read_kitti(page.parent_path().parent_path());
}
Seeds kitti_seeds() {
  return {
      "Car 0.00 0 -1.58 587.01 173.33 614.12 200.12 1.65 1.67 3.64 -0.65 1.71 46.70 -1.59\r\n"
      "DontCare -1 -1 -10 503.89 169.71 590.61 190.13 -1 -1 -1 -1000 -1000 -1000 -10\n\nVan 1 3 0 1 2 3 4 0 0 0 0 0 0 "
      "0"};
}

void kitti_set(std::string_view bytes) {
  read_kitti_set(scratch_file("kitti_set/ImageSets/train.txt", bytes).parent_path().parent_path(), "train");
}
Seeds kitti_set_seeds() { return {"000000\n000001\r\n  000007 000008"}; }

void mot(std::string_view bytes) {
  for (const MotRow& row : read_mot(scratch_file("mot/gt.txt", bytes)).rows) mot_line(row);
}
Seeds mot_seeds() {
  Seeds seeds = {"1,2,244.75,408.25,111.50,94.00,1,1,1.0\n2 2 1 1 5 5\n3,-1,1,1,5,5,0.5,-1,-1,-1\n\n"};
  for (std::string& seed : data_seeds("video", {".txt"}, 300'000)) seeds.push_back(std::move(seed));
  return seeds;
}

/// The files beside gt.txt: the input serves as seqinfo.ini and as labels.txt.
void mot_folder(std::string_view bytes) {
  const auto folder = scratch_file("sequence/seqinfo.ini", bytes).parent_path();
  scratch_file("sequence/gt/labels.txt", bytes);
  scratch_file("sequence/gt/gt.txt", "1,1,0,0,5,5,1,1,1\n2,1,0,0,5,5,1,2,1\n");
  scratch_file("sequence/img1/000001.jpg", "");
  read_mot_sequence(folder);
}
Seeds mot_folder_seeds() { return {"[Sequence]\nimDir=img1\nframeRate=30\n", "person\ncar\r\n\n"}; }

}  // namespace

std::vector<FuzzTarget> box_targets() {
  return {{"coco", coco_seeds, coco},
          {"coco_results", result_seeds, coco_results},
          {"detection_set", detection_set_seeds, detection_set},
          {"voc", voc_seeds, voc},
          {"voc_set", voc_set_seeds, voc_set},
          {"kitti", kitti_seeds, kitti},
          {"kitti_set", kitti_set_seeds, kitti_set},
          {"mot", mot_seeds, mot},
          {"mot_folder", mot_folder_seeds, mot_folder}};
}

}  // namespace voxshard

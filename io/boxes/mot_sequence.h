// The boxes of one video in MOT's form as a data set, one image per frame: a clip read in place, or numbered images.
//
//   set = read_mot_sequence("MOT17-02-FRCNN");        // gt/gt.txt, gt/labels.txt, seqinfo.ini, img1/000001.jpg
//   set = read_mot_sequence("clip.boxes.mot.txt");    // frames of clip.mp4 beside it: clip.mp4#frame=0
//
// MOT counts frames from 1; ids and frame numbers here start at 0. Sources: Milan et al. 2016 (see io/boxes/mot.h);
// gt/labels.txt is CVAT's, one class name per line (docs.cvat.ai, "MOT sequence format").
#pragma once

#include <filesystem>

#include "io/boxes/box_format.h"
#include "io/boxes/detection_annotations.h"

namespace voxshard {

/// Returns true when a path is a text file (.txt) or a folder with gt/gt.txt.
bool is_mot_sequence(const std::filesystem::path& path);

/// Reads a sequence. Every frame of the video becomes an image; a frame without lines has no objects. Frames come from
///   FOLDER    its imDir (seqinfo.ini, else img1) of numbered images, else its only video
///   FILE.txt  the video beside it whose name is the longest prefix of FILE, else as for the folder that holds FILE.txt
///             (for gt/gt.txt: the folder above gt)
/// `file` is an image or a frame address (io/image/image.h). Classes are those of labels.txt, else those that occur
/// ("class 1"). A confidence of 0 sets `ignore`. A box of a frame or class that does not exist becomes a note (E_IMAGE,
/// E_CLASS). Errors: kInput as read_mot, and when no frames are found or several videos could be meant.
DetectionDataset read_mot_sequence(const std::filesystem::path& path);

/// The MOT format. In a folder with other text files it recognises gt.txt, det.txt and *.mot.txt.
BoxFormat mot_format();

}  // namespace voxshard

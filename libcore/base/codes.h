// Stable codes for everything that can be wrong with an input or a command. Scripts find them in the column `code` of
// quarantine.csv, in notes and in the JSON of an error. Every code that a source file gives is a row here, and every
// row is given by a source file (tests/structure/codes_test.cc).
//
//   meaning_of("E_SHAPE")     // "image and label, or a file and what it promises, have different sizes"
//
// `voxshard help codes` prints the table; pipelines/README.md holds what it prints.
#pragma once

#include <string_view>

namespace voxshard {

struct CodeRow {
  std::string_view code;
  const char* meaning;  // a clause, without a full stop
};

/// Codes that begin with E_ exclude an input or end a command; those that begin with W_ keep the input and report an
/// oddity.
inline constexpr CodeRow kCodes[] = {
    // Inputs: the case, image, clip, entry or record is left out.
    {"E_ARCHIVE", "a zip or tar file that is encrypted, cut, damaged or beyond what is unpacked"},
    {"E_BOX", "a box without area, outside of its picture or with numbers that are not finite"},
    {"E_BUDGET", "more memory than {memory} or {host-memory} allow; the text says what would fit"},
    {"E_CHECKSUM", "a TFRecord whose checksum differs from its bytes"},
    {"E_CLASS", "a class that training does not have, or none"},
    {"E_CLIP", "a video shorter than a clip, or a clip of which no frame decodes"},
    {"E_DIRECTION", "a label whose axes point elsewhere than those of its image"},
    {"E_DOUBLED", "slices of a DICOM series that lie at one place"},
    {"E_DUPLICATE", "there twice, or it also validates"},
    {"E_EMPTY", "a class without a file that can be used"},
    {"E_ENTRY", "an entry of annotations that is malformed"},
    {"E_EXAMPLE", "a TFRecord that is no tf.Example"},
    {"E_FEATURE", "a tf.Example whose feature is missing or of another type"},
    {"E_FORMAT", "a TFRecord file that is compressed with ZLIB, which is not read"},
    {"E_FRAME", "structures in another frame of reference than the image"},
    {"E_GAP", "a DICOM series that lacks slices; the text says how many and where"},
    {"E_GEOMETRY", "a label that lies elsewhere than its image, or axes that are no right angles"},
    {"E_IDENTITY", "results whose patient, study or frame of reference is not that of all their images: not sent"},
    {"E_IMAGE", "a box of a picture that is not listed"},
    {"E_IRREGULAR", "slices of a DICOM series at irregular distances"},
    {"E_LABELS", "a label outside of the classes"},
    {"E_LIMIT", "a text or a list that is larger or deeper than is read"},
    {"E_MEMORY", "the system refused the memory"},
    {"E_MISSING", "a file that is not there"},
    {"E_NAME", "a name that is no plain file name, or no UTF-8"},
    {"E_NAN", "voxels that are NaN or infinite"},
    {"E_OBLIQUE", "a contour that lies in no plane of its image's voxels; the text names it"},
    {"E_ORIENTATION", "a picture in a TFRecord whose EXIF orientation leaves open where its boxes lie"},
    {"E_ORIGIN", "a label that begins at another place than its image"},
    {"E_OVERLAP", "two intervals of a video at one time"},
    {"E_POSITION", "slices of a DICOM series without a position or an orientation"},
    {"E_READ", "a file that is missing, truncated, damaged or of another kind than expected"},
    {"E_SERIES", "a folder or an archive with several DICOM series or volumes, or none, where one is wanted"},
    {"E_SHAPE", "image and label, or a file and what it promises, have different sizes"},
    {"E_SHEAR", "a file whose axes are no right angles; the text has the angle and how far it moves a corner"},
    {"E_SIZE", "beyond {most-voxels}, {most-inflation} or {most-pixels}, or larger than the model sees"},
    {"E_SPACING", "a label whose voxels have another size than those of its image, or a DICOM series without one"},
    {"E_STOPPED", "not reached before the command was stopped"},
    {"E_SYNTAX", "a row or a value that cannot be parsed"},
    {"E_TILT", "a DICOM series with a tilted gantry; the text has the angle"},
    {"E_TIME", "a video without timestamps, or an interval that ends before it begins"},
    {"E_UIDS", "results on a DICOM series with empty UIDs: not sent, unless {fill-uids} fills them"},
    // Commands: the error ends the whole command.
    {"E_CHECKPOINT", "a checkpoint of another model or run, or of data that have changed; or no whole one is left"},
    {"E_CONFIG", "a configuration, model, size or partition that is invalid"},
    {"E_DIVERGED", "the loss or a weight is not finite"},
    {"E_INTERNAL", "a defect of voxshard"},
    {"E_MISMATCH", "a verification found a difference"},
    {"E_MPI", "MPI failed between ranks"},
    {"E_NO_CASE", "no usable case"},
    {"E_PARTIAL", "some cases failed and are listed"},
    {"E_THREADS", "the system refused threads that were asked for"},
    {"E_USAGE", "the command line is wrong"},
    {"E_WRITE", "an output cannot be written"},
    // Notes: the input is kept although it is odd.
    {"W_ABSENT", "a class is missing in a predicted label map, and all training cases have it"},
    {"W_BACKGROUND", "no case has every class annotated, so that nothing teaches the background"},
    {"W_BURNED", "a DICOM series whose files say that text is burned into their pixels; it may name somebody"},
    {"W_CLASS", "nothing of a class validates"},
    {"W_CLIPPED", "a box was cut to its picture"},
    {"W_COLOUR", "grey and colour pictures in one data set; the text says how they are taken"},
    {"W_CONTOURS", "contours of a structure that are left out; the text says why"},
    {"W_DOUBLE", "a case with the image or the label map of another case"},
    {"W_DOUBLED", "slices of a DICOM series that are there twice with the same values, of which one was kept"},
    {"W_EMPTY", "a label map without any class"},
    {"W_EXTENT", "a class that is more scattered or compact than in the other cases"},
    {"W_FACE", "a DICOM series of a head, from whose voxels a face can be drawn"},
    {"W_FIT", "labels whose borders lie on no edges of their image"},
    {"W_FORMS", "a volume's header does not say how it lies, or in two ways; the text says what was used"},
    {"W_FRACTION", "voxels that a fractional segment fills in part, which were cut at {fraction}"},
    {"W_FRAMES", "frames that do not decode; the one before stands in"},
    {"W_GAP", "slices between the contours of a structure that have none and stay empty"},
    {"W_HISTOGRAM", "an image whose intensities are far from those of the training images"},
    {"W_HU", "an image whose values are no Hounsfield units of a CT"},
    {"W_INTENSITY", "a class that is brighter or darker than in the other cases"},
    {"W_MASK", "an image that looks like a label map, predicted by a run that was trained on CT"},
    {"W_MIRROR", "mirroring swaps classes of left and right, or a class of one side has none on the other"},
    {"W_ORDER", "two classes that lie the other way round than in the other cases"},
    {"W_OUTPUT", "an output beside the prediction that cannot be made of this input; the text says why"},
    {"W_OUTSIDE", "structures that reach beyond their image, and are cut at its border"},
    {"W_OVERLAP", "structures that share voxels, or segments that may; those take the highest number"},
    {"W_PARTS", "a class in a predicted label map lies in more parts than in the training cases"},
    {"W_PATIENT", "a patient on both sides of a split"},
    {"W_PEAK", "the process took more memory than its budget"},
    {"W_PLACE", "a class at another place than in the other cases, or than in the training cases"},
    {"W_REFERENCE", "structures that were made on another series than the image, or name another frame of reference"},
    {"W_RESAMPLED", "irregular or tilted slices, sheared axes, or a segmentation on another grid, that were resampled"},
    {"W_RESCALE", "a CT without RescaleSlope: stored values are taken as Hounsfield units"},
    {"W_SECRET", "the file of {id-salt} can be read by others than its owner"},
    {"W_SERIES",
     "several DICOM series fit the labels, or none that they refer to, or several are reconstructions of the one scan "
     "that "
     "is wanted; the text says which one was taken"},
    {"W_SHIFT", "labels that fit their image better when they are moved"},
    {"W_SIDES", "a class of the left that lies to the right of its counterpart"},
    {"W_SIZE", "a picture has another size than its entry says"},
    {"W_SUV",
     "a PET whose values stay as they are, because its header does not tell the SUV; the text says what it lacks"},
    {"W_TERM", "classes without a row in the table of coded terms, which get a generic one"},
    {"W_TEST", "the test part validates, so that the best checkpoint is chosen on it"},
    {"W_THREADS", "the system refused threads; the command goes on with fewer, and the results are the same"},
    {"W_TRAINED", "the run was trained on what is predicted or scored"},
    {"W_UIDS", "a DICOM series whose UIDs are empty, incomplete or repeated; the text says which"},
    {"W_UNMATCHED", "structures that belong to no class of {classes}"},
    {"W_VIEW", "an image that shows less than the training images, or cuts a class that none of them cuts there"},
    {"W_VOLUME", "a class that is far larger or smaller than in the other cases, or than in the training cases"},
};

/// Returns null for a string that is not a code.
constexpr const char* meaning_of(std::string_view code) {
  for (const CodeRow& row : kCodes)
    if (row.code == code) return row.meaning;
  return nullptr;
}

}  // namespace voxshard

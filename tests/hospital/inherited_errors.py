"""Real series that are predicted: dciodvfy may find in their segmentations only what it finds in the series, in modules that are
copied. For objects_against_others.py. Raises ImportError where pydicom is missing."""
import json
import os
import re
import shutil
import subprocess

import pydicom

# Of what is written for a PACS these are the series' own; all others are made by voxshard.
COPIED_MODULES = {"Patient", "PatientStudy", "GeneralStudy", "FrameOfReference", "SOPCommon"}


def errors_of(path):
    """Returns the errors that dciodvfy finds in a file."""
    done = subprocess.run(["dciodvfy", path], capture_output=True, text=True, errors="replace", check=False)
    errors = {line for line in (done.stdout + done.stderr).splitlines() if line.startswith("Error")}
    return errors or ({f"dciodvfy exits {done.returncode}"} if done.returncode != 0 else errors)


def new_errors(written, slices):
    """Returns the errors of an object that none of its slices has, or that are not of what is copied: of another module, or of an
    element that stands in a sequence of the object alone."""
    inherited = set().union(*map(errors_of, slices))
    header = pydicom.dcmread(written, stop_before_pixels=True)

    def is_copied(error):
        module, element = re.search(r"Module=<(\w+)>", error), re.search(r"\(0x(\w{4}),0x(\w{4})\)", error)
        return (module is None or module[1] in COPIED_MODULES) and (element is None or int(element[1] + element[2], 16) in header)

    return sorted(error for error in errors_of(written) if error not in inherited or not is_copied(error))


def judge_series(voxshard, run, address, slices, output):
    """Returns whether the segmentation of a series has no new errors; none where it cannot be made, which is said."""
    done = subprocess.run([voxshard, "predict", run, address, "-o", output, "--write", "dicom-seg", "--fill-uids", "--json", "--quiet"],
                          capture_output=True, text=True, check=False)
    objects = [file for file in os.listdir(output) if file.endswith(".seg.dcm")] if os.path.isdir(output) else []
    if not objects:
        report = json.loads(done.stdout)
        reasons = [one["reason"] for one in report.get("not_written", [])] or [done.stderr.strip()]
        print(f"skipped: {address}: no segmentation: {'; '.join(reasons)}")
        return None
    found = new_errors(os.path.join(output, objects[0]), slices)
    print(f"{address}: dciodvfy finds {len(found)} errors in the segmentation that its {len(slices)} slices lack")
    for error in found:
        print(f"  {error}")
    return not found


def judge_folders(voxshard, run, folders, scratch):
    """Judges all series of folders. At least one must be predicted."""
    if shutil.which("dciodvfy") is None:
        print("skipped: dciodvfy is missing")
        return True
    judged = []
    for folder in folders:
        info = subprocess.run([voxshard, "info", "--json", folder], capture_output=True, text=True, check=False)
        series = [one for section in json.loads(info.stdout).get("folders", []) for one in section["files"]]
        if not series:
            print(f"skipped: {folder}: no series")
        for one in series:
            if not one["readable"]:
                print(f"skipped: {one['path']}: {one['problem']}")
                continue
            output = os.path.join(scratch, f"real_{len(judged)}")
            judged.append(judge_series(voxshard, run, one["path"], one["files"], output))
    print(f"{sum(one is not None for one in judged)} of {len(judged)} real series have a segmentation")
    return any(judged) and False not in judged

"""What the inputs of the fuzzers cover of our own readers in io, by lines of source.

    python3 tests/fuzz/coverage.py build/fuzz/bin/voxshard_fuzz build/fuzz/covered.profdata

Counted are the lines with code of every source in io but those that only write, draw or compute (NO_READERS), without functions
that write (WRITES) and without statements that report a failed system call (FAILED_CALL): no input can make a disk full.
io/inbox is among NO_READERS because it parses no bytes: it lists, moves and deletes entries by their names and times and compares
the bytes of two files; what it hands on is parsed by readers that are counted. Prints a line per file, the lines that no input
reaches with --missing, and ends with 1 where less than LEAST of all lines is covered.
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys

LEAST = 0.85
ROOT = pathlib.Path(__file__).resolve().parents[2]
NO_READERS = re.compile(
    r"io/(image/(class_plots|draw_boxes|draw_caption|overlay|sheet_file|tile_sheet|time_band|opencv_threads|class_scalar|image_resize)"
    r"|video/(video_writer|video_copy)|volume/(reorient|itk_write|resample|respace|label_resize|spline_resize|largest_component)"
    r"|boxes/frame_results|datasets/(summary|case_ids|hidden_paths)|archive/npz_writer|audit/sha256|inbox/.*"
    r"|dicom_out/(derived_uid|filled_uids|outbox|mask_contours|measurement_report|object_file|segmentation_object|structure_set)"
    r"|files/(scratch_file|atomic_file|output_file|output_folder|unfinished_files|folder_lock|now_reading|part_log|standard_streams)"
    r"|system/.*)\.(cc|h)$")
WRITES = re.compile(r"(^|::)(~?\w*[Ww]rit\w*|save_\w+|put_\w+|to_json|to_text|draw_\w+|append\w*)\(")
FAILED_CALL = re.compile(r"strerror\(|output_error\(|errno\b")


def exported(program, profile, form):
    """What llvm-cov exports as text: JSON ("text") or lcov's records ("lcov")."""
    command = ["llvm-cov", "export", program, f"-instr-profile={profile}", f"-format={form}", str(ROOT / "io")]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def counts_by_line(lcov):
    """{path: {line: count}} of lcov's records."""
    counts, lines = {}, {}
    for record in lcov.splitlines():
        if record.startswith("SF:"):
            lines = counts.setdefault(record[3:], {})
        elif record.startswith("DA:"):
            line, count = record[3:].split(",")[:2]
            lines[int(line)] = max(lines.get(int(line), 0), int(count))
    return counts


def lines_of_writers(exported_json):
    """{path: lines} of functions that write."""
    functions = json.loads(exported_json)["data"][0]["functions"]
    names = "\n".join(f["name"].split(":")[-1] for f in functions)
    plain = subprocess.run(["c++filt"], input=names, check=True, capture_output=True, text=True).stdout.splitlines()
    found = {}
    for function, name in zip(functions, plain):
        if WRITES.search(name.split("[clone")[0]):
            first, _, last = function["regions"][0][:3]
            found.setdefault(function["filenames"][0], set()).update(range(first, last + 1))
    return found


def lines_of_failed_calls(text):
    """Lines of the statements that report a failed system call."""
    found = set()
    for match in FAILED_CALL.finditer(text):
        begin = max(text.rfind(end, 0, match.start()) for end in ";{}") + 1
        end = text.find(";", match.end())
        begin += len(text[begin:]) - len(text[begin:].lstrip())
        found.update(range(text.count("\n", 0, begin) + 1, text.count("\n", 0, end) + 2))
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("profile")
    parser.add_argument("--missing", action="store_true", help="print the lines that no input reaches")
    options = parser.parse_args()
    writers = lines_of_writers(exported(options.program, options.profile, "text"))
    all_lines = all_covered = left_out = 0
    for path, counts in sorted(counts_by_line(exported(options.program, options.profile, "lcov")).items()):
        name = str(pathlib.Path(path).relative_to(ROOT))
        if NO_READERS.match(name):
            continue
        text = pathlib.Path(path).read_text()
        without = writers.get(path, set()) | lines_of_failed_calls(text)
        lines = {line: count for line, count in counts.items() if line not in without}
        left_out += len(counts) - len(lines)
        if not lines:
            continue
        covered = sum(count > 0 for count in lines.values())
        all_lines += len(lines)
        all_covered += covered
        print(f"{name:44} {covered:5} of {len(lines):5} lines  {100 * covered / len(lines):5.1f} %")
        if options.missing and covered < len(lines):
            source = text.splitlines()
            for line in sorted(line for line, count in lines.items() if count == 0):
                print(f"    {line:4} {source[line - 1]}")
    share = all_covered / all_lines
    print(f"covered of the readers in io: {all_covered} of {all_lines} lines, {100 * share:.1f} % (at least {100 * LEAST:.0f} %); "
          f"{left_out} lines that write or report a failed system call are not counted")
    return 0 if share >= LEAST else 1


if __name__ == "__main__":
    sys.exit(main())

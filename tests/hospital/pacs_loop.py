#!/usr/bin/env python3
"""The hospital loop against a real PACS: Orthanc on the loopback, DCMTK's tools, `predict --watch --rules --outbox`, loop.py.

    python3 tests/hospital/pacs_loop.py build/release/bin/voxshard [--kills 20] [--studies 200] [--seed 7]

Trains a small run on generated phantoms, starts Orthanc, storescp, the watcher and the sender as processes, and prints one line a
proof. Without --studies: results found in Orthanc under their studies, fetched, read by pydicom, dciodvfy, dcmdump and dsrdump,
equal to the label maps and laid over the fetched CT; empty UIDs held, then sent with --fill-uids; SIGKILL at --kills moments with
the PACS away in between: nothing twice, nothing lost, the audit whole; a full disk. With --studies: so many through one watcher,
whose memory stays flat and whose model is loaded once.
Exit 0: all proofs hold, 1: some do not, 77: Orthanc, a tool of DCMTK, dciodvfy or a package of Python is missing.
"""
import argparse
import json
import os
import pathlib
import random
import shutil
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
try:
    import pacs_scene as scene
    from pacs_processes import READERS, Loop
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)

POSITIONS = {
    "axial": ([1, 0, 0], [0, 1, 0]),
    "negated column": ([1, 0, 0], [0, -1, 0]),
    "cubic": ([1, 0, 0], [0, 1, 0]),
    "rows unlike columns": ([1, 0, 0], [0, 0, -1]),
}
failed = []


def proof(name, holds, about=""):
    print(f"{'holds' if holds else 'FAILS'}: {name}{': ' + about if about else ''}", flush=True)
    if not holds:
        failed.append(name)


def study_of(loop, number, cosines=([1, 0, 0], [0, 1, 0]), shape=None, broken=False, empty=False):
    """Writes a study as files and returns it; numbers tell studies apart."""
    study = scene.Study(loop.folder / f"study_{number}", f"1.2.826.0.1.{number}", f"P-{number}")
    study.write(scene.cut(loop.volume + number % 7, shape or loop.uneven), loop.spacing, cosines, broken=broken, empty=empty)
    return study


def results_under_the_right_study(loop):
    """Three studies sent, one of them broken; the positions in which axes were mistaken by others; each fetched again."""
    studies = []
    for number, (name, cosines) in enumerate(POSITIONS.items(), 1):
        side = min(loop.volume.shape)
        shape = (side, side, side) if name == "cubic" else loop.uneven
        studies.append((name, study_of(loop, number, cosines, shape)))
    broken = study_of(loop, 90, broken=True)
    for _, study in studies:
        study.send_to(loop.orthanc.dicom_port, "ORTHANC")  # the CT lies in the PACS, as in a hospital
        study.send_to(loop.scp_port, "VOXSHARD")
    broken.send_to(loop.scp_port, "VOXSHARD")
    done = loop.wait(lambda: all(loop.has_results(study) for _, study in studies), 180)
    proof("results arrive in Orthanc under the studies of their images", done)
    if not done:
        return
    for name, study in studies:
        about = loop.judge(study)
        proof(f"{name}: fetched objects lie on the fetched CT as the label map does, dciodvfy and DCMTK read them",
              about.startswith("equal"), about)
    moved = loop.wait(lambda: any((loop.folder / "done" / "failed").glob("*")), 120)
    before = len(loop.watcher_log())
    broken.send_to(loop.scp_port, "VOXSHARD")  # what came last, once more: its folder has moved away
    proof("the study that came last and failed is received and predicted again", loop.wait(
        lambda: "a study that failed was sent again" in loop.watcher_log()[before:], 60), loop.last_line())
    proof("the broken study moved aside, its reason in quarantine.csv, nothing of it in Orthanc",
          moved and not loop.orthanc.objects(broken, "SEG") and "E_" in (loop.folder / "out" / "quarantine.csv").read_text())


def empty_uids_are_held(loop):
    study = study_of(loop, 70, empty=True)
    shutil.copytree(study.folder, loop.folder / "inbox" / "laid_by_hand")
    held = loop.wait(lambda: list((loop.folder / "outbox" / "held").glob("*/held.json")), 120)
    codes = [json.loads(file.read_text())["code"] for file in (loop.folder / "outbox" / "held").glob("*/held.json")]
    proof("a study with empty UIDs is held with E_UIDS", held and codes == ["E_UIDS"], str(codes))
    proof("held.json holds no value of the header", all(scene.PLANTED not in file.read_text() for file in
                                                       (loop.folder / "outbox" / "held").glob("*/held.json")))
    laid = loop.folder / "done" / "laid_by_hand"
    proof("it moved to the finished ones", loop.wait(laid.exists, 60))
    sent_before = loop.orthanc.instances_of("SEG")
    loop.restart_watcher("--fill-uids")
    os.rename(laid, loop.folder / "inbox" / "laid_by_hand")
    sent = loop.wait(lambda: len(loop.orthanc.instances_of("SEG")) == len(sent_before) + 1, 120)
    proof("with --fill-uids its result is made and sent, and nothing is held any more",
          sent and not list((loop.folder / "outbox" / "held").glob("*/held.json")))
    proof("no other result was made anew or sent again",
          set(sent_before) < set(loop.orthanc.instances_of("SEG")))
    loop.restart_watcher()


def killed_at_any_moment(loop, kills, draw):
    """SIGKILL of watcher and sender while studies arrive, and a PACS that is away for a while."""
    before = set(loop.orthanc.instances_of("SEG"))
    studies = [study_of(loop, 100 + i) for i in range(max(4, kills // 2))]
    waiting = list(studies)
    for kill in range(kills):
        if waiting and kill % 2 == 0:
            waiting.pop(0).send_to(loop.scp_port, "VOXSHARD")
        if kill == kills // 3:
            loop.orthanc.stop()
        if kill == 2 * kills // 3:
            loop.orthanc.start()
        time.sleep(draw.uniform(0.05, 4))
        (loop.kill_sender if draw.random() < 0.3 else loop.kill_watcher)()
    if not loop.orthanc.runs():
        loop.orthanc.start()
    proof("neither watcher nor sender ended by itself", not loop.died, "; ".join(loop.died))
    for study in waiting:
        study.send_to(loop.scp_port, "VOXSHARD")
    arrived = loop.wait(lambda: all(loop.has_results(study) for study in studies), 60 + 20 * len(studies))
    lost = [study.number for study in studies if not loop.has_results(study)]
    proof(f"{kills} kills, the PACS away in between: nothing lost", arrived, f"{len(studies)} studies, lost {lost}")
    doubled = [study.number for study in studies for kind in ("SEG", "SR") if len(loop.orthanc.objects(study, kind)) > 1]
    new = set(loop.orthanc.instances_of("SEG")) - before
    proof("nothing twice", not doubled and len(new) == len(studies), f"{len(new)} segmentations, doubled {doubled}")
    loop.wait(lambda: not loop.waiting_items(), 60)
    proof("nothing waits, nothing half placed",
          not loop.waiting_items() and not list((loop.folder / "outbox").glob(".placing.*")), str(loop.waiting_items()))
    finished = loop.wait(lambda: not loop.arriving(), 60)  # a line is written before its study moves away
    code, said = loop.check_audit()
    proof("the audit is one whole chain, whatever the kills cut", finished and code == 0, f"exit {code}: {said}")
    proof("each result has a line in the audit", not loop.without_audit(), str(loop.without_audit()))


def a_full_disk(loop):
    """The outbox on a disk that is full, or one that cannot be written: said, and made up for later."""
    study = study_of(loop, 60)
    loop.stop_sender(), loop.stop_watcher()
    small = scene.SmallDisk(loop.folder / "small")
    if not small.mounted:
        print("skipped: a full disk needs a user who may mount a tmpfs")
    else:
        small.fill()
        before = len(loop.watcher_log())
        study.send_to(loop.scp_port, "VOXSHARD")
        loop.start_watcher(outbox=loop.folder / "small" / "outbox")
        said = loop.wait(lambda: not loop.watcher_runs(), 120)
        proof("a full disk ends the watcher, which says so", said and "cannot write" in loop.watcher_log()[before:],
              loop.last_line())
        small.clear()
        loop.stop_watcher()
        loop.start_watcher(outbox=loop.folder / "small" / "outbox")
        placed = loop.wait(lambda: list((loop.folder / "small" / "outbox").glob("[!.]*/*.seg.dcm")), 120)
        proof("with space again what was predicted is placed: nothing is lost", placed)
        loop.stop_watcher()
        items = len(list((loop.folder / "small" / "outbox").glob("[!.]*/*.seg.dcm")))
        small.remount("ro")
        study_of(loop, 61).send_to(loop.scp_port, "VOXSHARD")
        code = loop.watcher_exit(outbox=loop.folder / "small" / "outbox")
        proof("a read-only outbox is refused", code == 6, f"exit {code}")
        small.remount("rw")
        loop.start_watcher(outbox=loop.folder / "small" / "outbox")
        placed = loop.wait(lambda: len(list((loop.folder / "small" / "outbox").glob("[!.]*/*.seg.dcm"))) > items, 120)
        proof("once it can be written the study is there", placed)
        loop.stop_watcher()
        small.close()
    locked = loop.folder / "outbox" / "locked.txt"
    locked.write_text("a file where a folder should be")
    code = loop.watcher_exit(outbox=locked)
    proof("an outbox that cannot be made is refused before anything is predicted", code == 6, f"exit {code}")
    locked.unlink()
    loop.start_watcher(), loop.start_sender()


def memory_is_flat(loop, count):
    sent, early = [], None
    for number in range(count):
        sent.append(study_of(loop, 1000 + number))
        sent[-1].send_to(loop.scp_port, "VOXSHARD")
        shutil.rmtree(sent[-1].folder)
        if number + 1 == 20:
            loop.wait(lambda: loop.predicted() >= 20, 600)
            early = loop.watcher_rss_mib()
    all_there = loop.wait(lambda: loop.predicted() >= count, 60 + 10 * count)
    late = loop.watcher_rss_mib()
    proof(f"{count} studies through one watcher", all_there, f"{loop.predicted()} predicted")
    proof("its memory is flat", early is not None and late - early <= 16,
          f"{early} MiB after 20, {late} MiB after {count}")
    starts = loop.starts_in_log()
    proof("the model is loaded once: one process has worked through all", starts == 1 and loop.watcher_runs(),
          f"{starts} starts in its log")
    arrived = loop.wait(lambda: len(loop.orthanc.instances_of("SEG")) >= count, 600)
    proof("all results are in Orthanc", arrived, f"{len(loop.orthanc.instances_of('SEG'))}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("voxshard")
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--studies", type=int, default=0)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    given = parser.parse_args()
    needed = {"Orthanc", "storescp", "dcmsend"}.union(*READERS.values())
    missing = sorted(tool for tool in needed if scene.program(tool) is None)
    if missing:
        print(f"skipped: {', '.join(missing)} missing")
        sys.exit(77)
    print(f"seed {given.seed}", flush=True)
    with tempfile.TemporaryDirectory(prefix="voxshard_pacs_") as top:
        loop = Loop(pathlib.Path(top), os.path.abspath(given.voxshard))
        try:
            loop.start()
            if given.studies:
                memory_is_flat(loop, given.studies)
            else:
                results_under_the_right_study(loop)
                empty_uids_are_held(loop)
                killed_at_any_moment(loop, given.kills, random.Random(given.seed))
                a_full_disk(loop)
            planted = loop.planted_names()
            proof("no planted name in a log or a name of a file that voxshard writes", not planted, ", ".join(planted))
        finally:
            loop.stop()
    print(f"{len(failed)} proofs fail" if failed else "all proofs hold")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()

"""The processes of the loop that pacs_loop.py proves: receiver, watcher and sender in a folder of their own, beside a PACS."""
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

import nibabel
import numpy
import pydicom

import pacs_scene as scene

# The programs that must exit 0 on each object that was fetched.
READERS = {"seg.dcm": ["dciodvfy", "dcmdump"], "sr.dcm": ["dciodvfy", "dcmdump", "dsrdump"]}
LOOP = pathlib.Path(__file__).resolve().parents[2] / "data" / "examples" / "pacs" / "loop.py"


class Loop:
    """The processes of the loop, in a folder of its own."""

    def __init__(self, top, voxshard):
        self.folder, self.voxshard = top, voxshard
        os.chmod(top, 0o755)  # for the user of Orthanc
        self.watcher = self.sender = self.receiver = None
        self.watcher_starts, self.died = 0, []
        self.orthanc = scene.Orthanc(top / "orthanc")
        self.scp_port = scene.free_port()
        self.rules = top / "rules.toml"
        self.rules.write_text(f"""[studies]
modality = ["CT"]
missing_body_part = "take"
slices = [4, 2000]
[receive]
aetitle = "VOXSHARD"
port = {self.scp_port}
keep_days = 7
[send]
aetitle = "ORTHANC"
host = "127.0.0.1"
port = {self.orthanc.dicom_port}
""")

    def start(self):
        self.train()
        for name in ("inbox", "fetched"):
            (self.folder / name).mkdir()
        self.orthanc.start()
        self.receiver = self.begin("receive.log", [sys.executable, str(LOOP), "receive", str(self.rules),
                                                   str(self.folder / "inbox")])
        self.start_watcher()
        self.start_sender()

    def train(self):
        """Trains a tiny run, and reads the image that all studies are made of."""
        def run(*words):
            subprocess.run([self.voxshard, *words, "--quiet"], cwd=self.folder, check=True, capture_output=True)
        run("demo", "data", "--cases", "4", "--test", "1")
        run("prepare", "data", "-o", "work", "--spacing", "8,8,8")
        run("train", "work", "-o", "run", "--base-filters", "4", "--depth", "3", "--crop", "16x16x16", "--steps", "80")
        image = nibabel.load(self.folder / "data" / "imagesTr" / "phantom_000_0000.nii.gz")
        whole = numpy.rint(numpy.asarray(image.dataobj)).astype(int)
        self.spacing = image.header.get_zooms()[:3]
        self.uneven = (whole.shape[0] // 2 * 2 - 1, whole.shape[1] // 2 * 2 - 3, whole.shape[2])
        self.volume = scene.cut(whole, self.uneven)

    def begin(self, log, words):
        with open(self.folder / log, "ab") as out:
            return subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT, cwd=self.folder)

    def watcher_words(self, outbox=None):
        return [self.voxshard, "predict", "run", "--watch", "inbox", "--done", "done", "--quiet-for", "2", "-o", "out",
                "--rules", str(self.rules), "--write", "dicom-seg,sr", "--outbox", str(outbox or self.folder / "outbox"),
                "--log", "watch.jsonl", "--audit", "audit.jsonl"]

    def start_watcher(self, *further, outbox=None):
        self.watcher = self.begin("watch.log", self.watcher_words(outbox) + list(further))
        self.watcher_starts += 1

    def restart_watcher(self, *further):
        self.stop_watcher()
        self.start_watcher(*further)

    def start_sender(self):
        self.sender = self.begin("send.log", [sys.executable, str(LOOP), "send", str(self.rules), str(self.folder / "outbox"),
                                              "--every", "1"])

    @staticmethod
    def end(process, how):
        """Returns the exit code of a process that ended by itself before; else none."""
        if process is None:
            return None
        code = process.poll()
        if code is None:
            process.send_signal(how)
            process.wait(120)
        return code

    def note_death(self, name, code):
        if code is not None:
            self.died.append(f"{name} ended by itself with {code}")
            print(self.died[-1], self.last_line(), flush=True)

    def kill_watcher(self):
        self.note_death("the watcher", self.end(self.watcher, signal.SIGKILL))
        self.start_watcher()

    def kill_sender(self):
        self.note_death("the sender", self.end(self.sender, signal.SIGKILL))
        self.start_sender()

    def stop_watcher(self):
        self.end(self.watcher, signal.SIGTERM)
        self.watcher = None

    def stop_sender(self):
        self.end(self.sender, signal.SIGTERM)
        self.sender = None

    def stop(self):
        self.stop_watcher(), self.stop_sender(), self.end(self.receiver, signal.SIGTERM), self.orthanc.stop()

    def watcher_runs(self):
        return self.watcher is not None and self.watcher.poll() is None

    def watcher_exit(self, outbox):
        """Returns the exit code of a watcher that ends by itself; none when it does not within two minutes."""
        try:
            return subprocess.run(self.watcher_words(outbox), cwd=self.folder, capture_output=True, timeout=120,
                                  check=False).returncode
        except subprocess.TimeoutExpired:
            return None

    def watcher_log(self):
        return (self.folder / "watch.log").read_text(errors="replace")

    def last_line(self):
        return (self.watcher_log().splitlines() or [""])[-1]

    def starts_in_log(self):
        """Returns how often a watcher has begun, by its log of JSON lines."""
        lines = (self.folder / "watch.jsonl").read_text().splitlines()
        return sum(1 for line in lines if json.loads(line).get("event") == "start")

    def watcher_rss_mib(self):
        for line in pathlib.Path(f"/proc/{self.watcher.pid}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) // 1024
        return 0

    def check_audit(self):
        """Returns the exit code of the program's own check of the audit, and what it says."""
        done = subprocess.run([self.voxshard, "check", "--audit", "audit.jsonl"], cwd=self.folder, capture_output=True, text=True,
                              check=False)
        return done.returncode, " ".join((done.stdout + done.stderr).split())

    def without_audit(self):
        """Returns the cases with a label map of which the audit has no line."""
        told = set(re.findall(r'"case":"([^"]+)"', (self.folder / "audit.jsonl").read_text(errors="replace")))
        return sorted({path.name.removesuffix(".nii.gz") for path in (self.folder / "out").glob("*.nii.gz")} - told)

    def arriving(self):
        """Returns the names of what lies in the inbox."""
        return [path.name for path in (self.folder / "inbox").iterdir() if not path.name.startswith(".")]

    def predicted(self):
        return len(list((self.folder / "out").glob("*.nii.gz")))

    def waiting_items(self):
        return [path.name for path in (self.folder / "outbox").iterdir()
                if path.is_dir() and not path.name.startswith(".") and path.name not in ("sent", "held")]

    @staticmethod
    def wait(condition, seconds):
        end = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > end:
                return False
            time.sleep(0.5)
        return True

    def has_results(self, study):
        return all(self.orthanc.objects(study, modality) for modality in ("SEG", "SR"))

    def judge(self, study):
        """Returns "equal, ..." when the objects of a study, fetched from the PACS, are those of its label map on its fetched CT;
        else what differs."""
        folder = self.folder / "fetched" / study.number
        folder.mkdir()
        slices = [self.orthanc.fetch(one, folder / f"{one}.dcm") for one in self.orthanc.objects(study, "CT")]
        segmentations, reports = self.orthanc.objects(study, "SEG"), self.orthanc.objects(study, "SR")
        if len(segmentations) != 1 or len(reports) != 1:
            return f"{len(segmentations)} segmentations and {len(reports)} reports"
        seg = self.orthanc.fetch(segmentations[0], folder / "seg.dcm")
        report = self.orthanc.fetch(reports[0], folder / "sr.dcm")
        if any(one.PatientID != study.patient or one.StudyInstanceUID != study.uid for one in (seg, report)):
            return "another patient or study"
        case = self.case_of(seg.SOPInstanceUID)
        if case is None:
            return "no item that was sent holds the segmentation"
        label_map = nibabel.load(self.folder / "out" / (case + ".nii.gz"))
        truth = numpy.asarray(label_map.dataobj).astype(int)
        labels = scene.labels_over(seg, slices, label_map)
        if isinstance(labels, str):
            return labels
        differ = int((labels != truth).sum())
        if differ or not (truth > 0).any():
            return f"{differ} of {int((truth > 0).sum())} voxels differ"
        for name, programs in READERS.items():
            for program in programs:
                done = subprocess.run([program, str(folder / name)], capture_output=True, check=False)
                if done.returncode != 0:
                    return f"{program} exits {done.returncode} on {name}"
        return f"equal, {int((truth > 0).sum())} voxels"

    def case_of(self, uid):
        for file in (self.folder / "outbox" / "sent").glob("*/*.seg.dcm"):
            if pydicom.dcmread(file, stop_before_pixels=True).SOPInstanceUID == uid:
                return file.name[: -len(".seg.dcm")]
        return None

    def planted_names(self):
        """Returns the files that voxshard or loop.py wrote with a planted name in them or in their names; label maps and DICOM
        objects excepted, and the file that leads its owner back."""
        found = []
        for part in ("watch.log", "watch.jsonl", "audit.jsonl", "send.log", "out", "outbox"):
            top = self.folder / part
            for path in [top] if top.is_file() else top.rglob("*"):
                skipped = path.is_dir() or path.suffix in (".dcm", ".gz") or path.name == "case_paths.jsonl"
                if scene.PLANTED in str(path.relative_to(self.folder)) or (not skipped and scene.PLANTED.encode() in path.read_bytes()):
                    found.append(str(path.relative_to(self.folder)))
        return found

"""The parts of pacs_loop.py: a PACS, studies written by pydicom, and the processes of the loop. Raises ImportError where a package
of Python is missing."""
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request

import nibabel
import numpy
import pydicom
from pydicom.dataset import Dataset, FileMetaDataset
from pydicom.uid import CTImageStorage, ExplicitVRLittleEndian

LOOP = pathlib.Path(__file__).resolve().parents[2] / "data" / "examples" / "pacs" / "loop.py"
PLANTED = "Planted"  # in each name and id of a patient
NOBODY = 65534


def program(name):
    return shutil.which(name) or shutil.which(name, path="/usr/sbin:/usr/local/sbin")


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def cut(volume, shape):
    """Returns the middle of a volume."""
    return volume[tuple(slice((whole - size) // 2, (whole - size) // 2 + size) for whole, size in zip(volume.shape, shape))]


class Study:
    def __init__(self, folder, uid, patient):
        self.folder, self.uid, self.patient, self.number = folder, uid, f"{PLANTED}-{patient}", uid.rsplit(".", 1)[1]

    def write(self, volume, spacing, cosines, broken=False, empty=False):
        """Writes a volume (x, y, z) as a CT series; x runs along the rows.
        broken: every pixel data is cut; empty: as an export without UIDs."""
        self.folder.mkdir()
        row, column = map(numpy.array, cosines)
        normal = numpy.cross(row, column)
        for k in range(volume.shape[2]):
            data = Dataset()
            uid = "" if empty else f"{self.uid}.1.{k + 1}"
            data.SOPClassUID, data.SOPInstanceUID = "" if empty else CTImageStorage, uid
            data.StudyInstanceUID = "" if empty else self.uid
            data.SeriesInstanceUID, data.FrameOfReferenceUID = ("", "") if empty else (self.uid + ".1", self.uid + ".9")
            data.Modality, data.PatientName, data.PatientID = "CT", f"{PLANTED}^Name", self.patient
            data.PatientBirthDate, data.PatientSex, data.StudyID, data.SeriesNumber = "", "O", "1", 1
            data.InstanceNumber, data.AccessionNumber, data.ReferringPhysicianName = k + 1, "", ""
            data.StudyDate, data.StudyTime, data.SeriesDate, data.SeriesTime = "20240131", "100000", "20240131", "110000"
            data.ImageType, data.PositionReferenceIndicator, data.Manufacturer = ["ORIGINAL", "PRIMARY", "AXIAL"], "", "none"
            data.Rows, data.Columns = volume.shape[1], volume.shape[0]
            data.PixelSpacing, data.SliceThickness = [float(spacing[1]), float(spacing[0])], float(spacing[2])
            data.ImageOrientationPatient = [float(v) for v in [*row, *column]]
            data.ImagePositionPatient = [round(float(v), 6) for v in numpy.array([-20.5, 11, 3]) + normal * spacing[2] * k]
            data.SamplesPerPixel, data.PhotometricInterpretation = 1, "MONOCHROME2"
            data.BitsAllocated, data.BitsStored, data.HighBit, data.PixelRepresentation = 16, 16, 15, 1
            data.RescaleSlope, data.RescaleIntercept = 1, -1024
            pixels = (volume[:, :, k].T + 1024).astype("<i2").tobytes()
            data.PixelData = pixels[: len(pixels) // 4 * 2] if broken else pixels
            data.file_meta = FileMetaDataset()
            data.file_meta.TransferSyntaxUID = ExplicitVRLittleEndian
            data.file_meta.MediaStorageSOPClassUID = CTImageStorage
            data.file_meta.MediaStorageSOPInstanceUID = uid or f"2.25.{k + 1}"
            data.is_little_endian, data.is_implicit_VR = True, False
            data.save_as(self.folder / f"{k}.dcm", write_like_original=False)

    def send_to(self, port, title):
        subprocess.run(["dcmsend", "--quiet", "-aet", "MODALITY", "-aec", title, "+sd", "+r", "127.0.0.1", str(port),
                        str(self.folder)], check=True, timeout=120)


class Orthanc:
    """Orthanc on the loopback, by a user without rights where this is root."""

    def __init__(self, folder):
        self.folder, self.process = folder, None
        self.http_port, self.dicom_port = free_port(), free_port()
        folder.mkdir()
        (folder / "orthanc.json").write_text(json.dumps({
            "Name": "voxshard", "StorageDirectory": str(folder / "store"), "IndexDirectory": str(folder / "store"),
            "HttpPort": self.http_port, "HttpBindAddresses": ["127.0.0.1"], "RemoteAccessAllowed": False,
            "AuthenticationEnabled": False, "DicomPort": self.dicom_port, "DicomAet": "ORTHANC", "DicomCheckCalledAet": True,
            "DicomModalities": {"voxshard": ["VOXSHARD", "127.0.0.1", 104]}, "Plugins": [], "OverwriteInstances": False}))
        self.rights = {}
        if os.geteuid() == 0:
            os.chown(folder, NOBODY, NOBODY)
            self.rights = {"user": NOBODY, "group": NOBODY, "extra_groups": []}

    def start(self):
        with open(self.folder / "log", "ab") as log:
            self.process = subprocess.Popen([program("Orthanc"), str(self.folder / "orthanc.json")], stdout=log,
                                            stderr=subprocess.STDOUT, cwd=self.folder, **self.rights)
        for _ in range(120):
            try:
                self.get("/system")
                return
            except OSError:
                time.sleep(0.5)
        raise RuntimeError("Orthanc does not answer")

    def stop(self):
        if self.process is not None:
            self.process.terminate()
            self.process.wait(60)
        self.process = None

    def runs(self):
        return self.process is not None

    def get(self, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        with urllib.request.urlopen(f"http://127.0.0.1:{self.http_port}{path}", data, 60) as answer:
            return answer.read()

    def found(self, query):
        return json.loads(self.get("/tools/find", {"Level": "Instance", "Query": query}))

    def objects(self, study, modality):
        """Returns the ids of the instances of a study and a modality; none while Orthanc is away."""
        try:
            return self.found({"StudyInstanceUID": study.uid, "Modality": modality})
        except OSError:
            return []

    def instances_of(self, modality):
        return self.found({"Modality": modality})

    def fetch(self, instance, path):
        path.write_bytes(self.get(f"/instances/{instance}/file"))
        return pydicom.dcmread(path)


class SmallDisk:
    def __init__(self, folder):
        folder.mkdir()
        self.folder, self.filler = folder, folder / "filler"
        self.mounted = os.geteuid() == 0 and subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", str(folder)], capture_output=True, check=False).returncode == 0

    def fill(self):
        """Leaves 12 KiB: room for a lock and folders, not for an object."""
        with open(self.filler, "wb", buffering=0) as out:
            try:
                while True:
                    out.write(bytes(4096))
            except OSError:
                out.truncate(max(0, out.tell() - 12288))

    def clear(self):
        self.filler.unlink()

    def remount(self, how):
        """how: "ro", nobody may write on it, or "rw"."""
        subprocess.run(["mount", "-o", f"remount,{how}", str(self.folder)], check=True)

    def close(self):
        if self.mounted:
            subprocess.run(["umount", str(self.folder)], check=False)
        self.mounted = False


class Loop:
    """The processes of the loop, in a folder of its own."""

    def __init__(self, top, voxshard):
        self.folder, self.voxshard = top, voxshard
        os.chmod(top, 0o755)  # for the user of Orthanc
        self.watcher = self.sender = self.receiver = None
        self.watcher_starts, self.died = 0, []
        self.orthanc = Orthanc(top / "orthanc")
        self.scp_port = free_port()
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
        self.volume = cut(whole, self.uneven)

    def begin(self, log, words):
        with open(self.folder / log, "ab") as out:
            return subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT, cwd=self.folder)

    def watcher_words(self, outbox=None):
        return [self.voxshard, "predict", "run", "--watch", "inbox", "--done", "done", "--quiet-for", "2", "-o", "out",
                "--rules", str(self.rules), "--write", "dicom-seg,sr", "--outbox", str(outbox or self.folder / "outbox"),
                "--log", "watch.jsonl"]

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
        labels = labels_over(seg, slices, label_map)
        if isinstance(labels, str):
            return labels
        differ = int((labels != truth).sum())
        if differ or not (truth > 0).any():
            return f"{differ} of {int((truth > 0).sum())} voxels differ"
        for name in ("seg.dcm", "sr.dcm"):
            done = subprocess.run(["dciodvfy", str(folder / name)], capture_output=True, text=True, check=False)
            if done.returncode != 0:
                return f"dciodvfy exits {done.returncode} on {name}"
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
        for part in ("watch.log", "watch.jsonl", "send.log", "out", "outbox"):
            top = self.folder / part
            for path in [top] if top.is_file() else top.rglob("*"):
                skipped = path.is_dir() or path.suffix in (".dcm", ".gz") or path.name == "case_paths.json"
                if PLANTED in str(path.relative_to(self.folder)) or (not skipped and PLANTED.encode() in path.read_bytes()):
                    found.append(str(path.relative_to(self.folder)))
        return found


def labels_over(seg, slices, label_map):
    """Lays the frames of a segmentation over CT slices, and returns the labels in the voxels of the label map; a text when a frame
    lies on none of the slices."""
    by_uid = {one.SOPInstanceUID: one for one in slices}
    frames = seg.pixel_array.reshape(-1, seg.Rows, seg.Columns)
    cosines = numpy.array(seg.SharedFunctionalGroupsSequence[0].PlaneOrientationSequence[0].ImageOrientationPatient, float)
    inverse = numpy.linalg.inv(label_map.affine)
    labels = numpy.zeros(label_map.shape, int)
    for groups, frame in zip(seg.PerFrameFunctionalGroupsSequence, frames):
        source = groups.DerivationImageSequence[0].SourceImageSequence[0].ReferencedSOPInstanceUID
        ct = by_uid.get(source)
        if ct is None:
            return "a frame names a slice that the PACS does not have"
        position = numpy.array(groups.PlanePositionSequence[0].ImagePositionPatient, float)
        ct_position, ct_cosines = (numpy.array(v, float) for v in (ct.ImagePositionPatient, ct.ImageOrientationPatient))
        if not (numpy.allclose(position, ct_position, atol=1e-4) and numpy.allclose(cosines, ct_cosines, atol=1e-6)):
            return "a frame lies elsewhere than the slice that it names"
        if (seg.Rows, seg.Columns) != (ct.Rows, ct.Columns) or ct.FrameOfReferenceUID != seg.FrameOfReferenceUID:
            return "a frame has another size or frame of reference than its slice"
        rows, columns = numpy.nonzero(frame)
        world = (ct_position + numpy.outer(columns * float(ct.PixelSpacing[1]), ct_cosines[:3])
                 + numpy.outer(rows * float(ct.PixelSpacing[0]), ct_cosines[3:]))
        ras = numpy.column_stack([world * [-1, -1, 1], numpy.ones(len(world))])
        at = (ras @ inverse.T)[:, :3]
        nearest = numpy.rint(at).astype(int)
        if len(at) and numpy.abs(at - nearest).max() > 0.02:
            return "a voxel lies beside the grid of the label map"
        labels[tuple(nearest.T)] = groups.SegmentIdentificationSequence[0].ReferencedSegmentNumber
    return labels

"""The scene of pacs_loop.py: a PACS, studies written by pydicom, a small disk, and where frames lie on slices. Raises ImportError
where a package of Python is missing."""
import json
import os
import shutil
import socket
import subprocess
import time
import urllib.request

import numpy
import pydicom
from pydicom.dataset import Dataset, FileMetaDataset
from pydicom.uid import CTImageStorage, ExplicitVRLittleEndian

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

#!/usr/bin/env python3
"""Reads and writes TFRecord files with nothing but the standard library: frames, CRC-32C and the wire form of tf.Example by
hand. The tests hold voxshard's files against it, and its files against voxshard.

  tfrecord_by_hand.py read FILE...          one JSON document: for each record its features
  tfrecord_by_hand.py unet FOLDER           three records as the reference 3D U-Net's own preparation writes them
  tfrecord_by_hand.py retinanet FILE        three pictures with boxes as the reference RetinaNet's preparation writes them
"""
import gzip
import hashlib
import json
import struct
import sys
import zlib


def crc_table():
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ 0x82F63B78 if byte & 1 else byte >> 1
        table.append(byte)
    return table


TABLE = crc_table()


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = TABLE[(crc ^ byte) & 255] ^ crc >> 8
    return crc ^ 0xFFFFFFFF


def masked(data):
    crc = crc32c(data)
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


assert crc32c(b"123456789") == 0xE3069283


def records(path):
    with open(path, "rb") as file:
        data = file.read()
    if data[:2] == b"\x1f\x8b":
        data = gzip.decompress(data)
    at = 0
    while at < len(data):
        length, of_length = struct.unpack_from("<QI", data, at)
        assert of_length == masked(data[at:at + 8]), "checksum of a length"
        record = data[at + 12:at + 12 + length]
        assert struct.unpack_from("<I", data, at + 12 + length)[0] == masked(record), "checksum of a record"
        at += 16 + length
        yield record


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def fields(data):
    """(number, wire type, value) of a message."""
    at = 0
    while at < len(data):
        tag, at = varint(data, at)
        if tag & 7 == 0:
            value, at = varint(data, at)
        elif tag & 7 == 2:
            length, at = varint(data, at)
            value, at = data[at:at + length], at + length
        elif tag & 7 == 5:
            value, at = data[at:at + 4], at + 4
        else:
            raise ValueError("wire type %d" % (tag & 7))
        yield tag >> 3, tag & 7, value


def feature(data):
    for kind, _, body in fields(data):
        if kind == 1:
            return [value for _, _, value in fields(body)]
        values = []
        for _, wire, value in fields(body):
            if kind == 2:
                values += [f for f, in struct.iter_unpack("<f", value)]
            elif wire == 0:
                values.append(value)
            else:
                at = 0
                while at < len(value):
                    number, at = varint(value, at)
                    values.append(number - (1 << 64) if number >> 63 else number)
        return values
    return []


def example(record):
    result = {}
    for number, _, features in fields(record):
        assert number == 1
        for number, _, entry in fields(features):
            assert number == 1
            parts = {key: value for key, _, value in fields(entry)}
            result[parts[1].decode()] = feature(parts[2])
    return result


def shown(value):
    if not isinstance(value, bytes):
        return value
    if len(value) <= 64 and value.isascii() and b"\0" not in value:
        return value.decode()
    about = {"bytes": len(value), "sha256": hashlib.sha256(value).hexdigest()}
    if len(value) % 4 == 0:
        about["f32"] = [f for f, in struct.iter_unpack("<f", value)] if len(value) <= 20000 else []
    return about


def to_varint(value):
    value &= (1 << 64) - 1
    out = b""
    while value > 127:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def message(number, body):
    return to_varint(number << 3 | 2) + to_varint(len(body)) + body


def to_feature(values):
    if values and isinstance(values[0], bytes):
        return message(1, b"".join(message(1, value) for value in values))
    if values and isinstance(values[0], float):
        return message(2, message(1, struct.pack("<%df" % len(values), *values)))
    return message(3, message(1, b"".join(to_varint(value) for value in values)))


def to_record(features):
    entries = (message(1, message(1, name.encode()) + message(2, to_feature(values))) for name, values in features.items())
    data = message(1, b"".join(entries))
    return struct.pack("<Q", len(data)) + struct.pack("<I", masked(struct.pack("<Q", len(data)))) + data + struct.pack("<I", masked(data))


def write_unet(folder):
    """Case 0: 4^3, one-hot of 3 classes; case 1: 4^3, class indices; case 2: 2 x 3 x 4, which is no cube."""
    for case, voxels in enumerate((64, 64, 24)):
        image = struct.pack("<%df" % voxels, *(case * 100 + 0.5 * i for i in range(voxels)))
        labels = [i % 3 for i in range(voxels)]
        if case == 1:
            numbers = [float(label) for label in labels]
        else:
            numbers = [float(label == c) for label in labels for c in range(3)]
        label = struct.pack("<%df" % len(numbers), *numbers)
        with open("%s/instance-%d-0.tfrecords" % (folder, case), "wb") as file:
            file.write(gzip.compress(to_record({"image/ct_image": [image], "image/label": [label]}), mtime=0))


def png(width, height):
    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
    rows = b"".join(b"\0" + bytes((x * 5 + y * 3 + c * 40) % 256 for x in range(width) for c in range(3)) for y in range(height))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def write_retinanet(path):
    with open(path, "wb") as file:
        for i in range(3):
            file.write(to_record({
                "image/height": [24], "image/width": [32], "image/filename": [b"../../etc/passwd"], "image/source_id": [b"%d" % (500 + i)],
                "image/encoded": [png(32, 24)], "image/format": [b"png"],
                "image/object/bbox/xmin": [0.25, 0.0], "image/object/bbox/xmax": [0.5, 1.0],
                "image/object/bbox/ymin": [0.5, 0.0], "image/object/bbox/ymax": [0.75, 1.0],
                "image/object/class/label": [17, 90], "image/object/is_crowd": [0, 1], "image/object/area": [40.0, 700.0]}))


def main():
    command, *paths = sys.argv[1:]
    if command == "read":
        json.dump([{name: [shown(v) for v in values] for name, values in example(record).items()}
                   for path in paths for record in records(path)], sys.stdout)
    elif command == "unet":
        write_unet(paths[0])
    else:
        write_retinanet(paths[0])


main()

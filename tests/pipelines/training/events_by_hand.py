#!/usr/bin/env python3
"""Reads TensorBoard's event files with nothing but the standard library: events_by_hand.py FILE prints [step, time, tag, value] lists."""
import json
import struct
import sys


def masked_crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    crc ^= 0xFFFFFFFF
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def fields(data, at=0):
    def varint():
        nonlocal at
        value, shift = 0, 0
        while True:
            at, byte = at + 1, data[at]
            value, shift = value | (byte & 127) << shift, shift + 7
            if byte < 128:
                return value
    while at < len(data):
        tag = varint()
        size = {0: 0, 1: 8, 2: None, 5: 4}[tag & 7]
        value = varint() if size != 8 and size != 4 else None
        if size != 0:
            size = value if size is None else size
            at, value = at + size, data[at:at + size]
        yield tag >> 3, value


data, at, values = open(sys.argv[1], "rb").read(), 0, []
while at < len(data):
    length, of_length = struct.unpack_from("<QI", data, at)
    record, (of_record,) = data[at + 12:at + 12 + length], struct.unpack_from("<I", data, at + 12 + length)
    assert of_length == masked_crc32c(data[at:at + 8]) and of_record == masked_crc32c(record), "checksums"
    at, event = at + 16 + length, dict(fields(record))
    for _, value in fields(event.get(5, b"")):
        scalar = dict(fields(value))
        values.append([event[2], struct.unpack("<d", event[1])[0], scalar[1].decode(), struct.unpack("<f", scalar[2])[0]])
json.dump(values, sys.stdout)

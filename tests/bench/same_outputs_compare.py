"""How same_outputs.py compares two outputs: what is exempt (times, versions), and the forms of files. Standard library only.

  compare_file("train-cut", "run/checkpoints/last.safetensors", old_bytes, new_bytes)  # -> [] or a list of Difference

Equal bytes are equal. Otherwise each form is read (JSON, CSV, safetensors, gzip, text) and every value that EXEMPT does not
name must agree, so that a difference can be said by its place. Texts of `explain` go to same_outputs_explain.py.
"""
import csv, dataclasses, gzip, io, itertools, json, re, struct

# (command, file, place): regular expressions that must match whole; a place is a path of keys, [] stands for any index.
# These values are clocks and meters of one run, or the name of a version: they differ between two runs of one binary.
EXEMPT = [
    (r"(demo|prepare|train|resume|evaluate)-.*", r"stdout", r"seconds"),
    (r"(train|resume)-.*", r"stdout", r"(validation_|checkpoint_|held_out\.)seconds"),
    (r"predict-.*", r"stdout", r"cases\[\]\.seconds|stages\..*"),
    (r"plan-.*", r"stdout", r"planning_seconds"),
    (r"bench-.*", r"stdout", r"step_seconds\.(median|min|max)|gflops_per_second|(peak_resident|resident_before)_bytes"),
    (r"bench-.*", r"stdout", r"by_op\.\w+|by_instruction\[\]\.(worker_seconds|pack_seconds|gflops_per_second)"),
    (r".*", r"stdout", r"(ranks\[\]\.)?(memory|feed)\..*"),
    (r".*", r".*/run\.json", r"version|report\.(validation_|checkpoint_)?seconds|report\.(ranks\[\]\.)?(memory|feed)\..*"),
    (r".*", r".*/results\.csv", r"seconds"),
    (r".*", r".*/metrics\.jsonl", r"\[\]\.(seconds|time)"),
    (r"evaluate-run", r"run-scores\.json", r"seconds"),
    (r".*", r".*/manifest\.jsonl", r"\[\]\.(voxshard|seconds|files\..*\.time_ns)"),
    (r".*", r".*trace\.json", r"otherData\.program"),
]
CLOCK_IN_TEXT = re.compile(r"\bin (\d+ h \d+ min|\d+ min \d+ s|[\d.]+ s)\b|[\d.]+ s (?:each|per image)|memory: .* resident at the peak")  # in what people read
WALL_PROCESS = 1  # of a trace: its events are as many and as named, when they ran and on which worker is chance


@dataclasses.dataclass
class Difference:
    kind: str  # exit, missing, value, message, tensor, text, fact, bytes
    where: str
    old: str
    new: str
    count: int = 1  # places of this name that differ; old and new are of the first


def short(value, most=150):
    text = value if isinstance(value, str) else json.dumps(value)
    return text if len(text) <= most else text[:most] + f"... ({len(text)} characters)"


def exempt_places(command, file):
    rules = [place for c, f, place in EXEMPT if re.fullmatch(c, command) and re.fullmatch(f, file)]
    return lambda where: any(re.fullmatch(rule, where) for rule in rules)


def merged(differences):
    """One entry per kind and place, with its count."""
    found = {}
    for d in differences:
        if (d.kind, d.where) in found:
            found[d.kind, d.where].count += d.count
        else:
            found[d.kind, d.where] = d
    return list(found.values())


ABSENT = object()


def walk(old, new, where, exempt):
    """Differences of two JSON values."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in [*old, *(k for k in new if k not in old)]:
            yield from walk(old.get(key, ABSENT), new.get(key, ABSENT), f"{where}.{key}" if where else key, exempt)
        if list(old) != list(new) and set(old) == set(new):
            yield Difference("value", where + " (order of keys)", short(list(old)), short(list(new)))
    elif isinstance(old, list) and isinstance(new, list):
        if len(old) != len(new):
            yield Difference("value", where + " (length)", str(len(old)), str(len(new)))
        for a, b in zip(old, new):
            yield from walk(a, b, where + "[]", exempt)
    elif type(old) is not type(new) or old != new:
        # A meter of nothing is left out.
        clock = all(isinstance(value, (int, float, str)) or value is ABSENT for value in (old, new)) and exempt(where)
        if not clock:
            kind = "message" if where == "error.message" else "value"
            yield Difference(kind, where, *("(none)" if v is ABSENT else short(v) for v in (old, new)))


def without_wall_clock(trace):
    """A profile whose wall clock events say what was done, not when and on which worker."""
    def timeless(event):
        if event.get("pid") != WALL_PROCESS:
            return event
        return {key: value for key, value in event.items() if key not in ("ts", "dur", "tid")}

    trace["traceEvents"] = sorted(map(timeless, trace["traceEvents"]), key=lambda event: json.dumps(event, sort_keys=True))
    return trace


def compare_json(old, new, command, file):
    old, new = json.loads(old), json.loads(new)
    if file.endswith("trace.json"):
        old, new = without_wall_clock(old), without_wall_clock(new)
    return merged(walk(old, new, "", exempt_places(command, file)))


def compare_lines(old, new, command, file):
    """Lines of JSON; those of a manifest in the order of their names: they are written as workers come to their ends."""
    def lines(data):
        return sorted(map(json.loads, data.splitlines()), key=lambda line: (line.get("part", line.get("begin", "")), "part" in line))
    return merged(walk(lines(old), lines(new), "", exempt_places(command, file)))


def compare_csv(old, new, command, file):
    """As JSON: a list of rows by their columns."""
    tables = [list(csv.DictReader(io.StringIO(data.decode()))) for data in (old, new)]
    exempt = exempt_places(command, file)
    return merged(walk(*tables, "", lambda where: exempt(where.removeprefix("[]."))))


def read_safetensors(data):
    """Header without __metadata__, metadata (its JSON texts parsed), the bytes of the tensors."""
    (length,) = struct.unpack_from("<Q", data)
    header = json.loads(data[8:8 + length])
    metadata = header.pop("__metadata__", {})
    for key, text in metadata.items():
        try:
            metadata[key] = json.loads(text)
        except ValueError:
            pass
    return header, metadata, data[8 + length:]


def compare_safetensors(old, new, command, file):
    """Order, types, shapes and bytes of tensors; the metadata by its keys."""
    (old_header, old_about, old_data), (new_header, new_about, new_data) = read_safetensors(old), read_safetensors(new)
    differences = list(walk(old_about, new_about, "metadata", exempt_places(command, file)))
    if list(old_header) != list(new_header):
        differences.append(Difference("tensor", "names", *(short(list(h), 400) for h in (old_header, new_header))))
    for name in (n for n in old_header if n in new_header):
        a, b = old_header[name], new_header[name]
        group = name.split("/")[0]
        if (a["dtype"], a["shape"]) != (b["dtype"], b["shape"]):
            differences.append(Difference("tensor", f"{group} (type)", f"{name} {a['dtype']}{a['shape']}", f"{b['dtype']}{b['shape']}"))
        bytes_a, bytes_b = (data[slice(*entry["data_offsets"])] for data, entry in ((old_data, a), (new_data, b)))
        if bytes_a != bytes_b:
            at = first_difference(bytes_a, bytes_b)
            if a["dtype"] == b["dtype"] == "F32":
                values = (f"{struct.unpack_from('<f', d, at // 4 * 4)[0]:.9g}" for d in (bytes_a, bytes_b))
            else:
                values = (d[at:at + 8].hex() for d in (bytes_a, bytes_b))
            differences.append(Difference("tensor", group, *(f"{name} at byte {at}: {v}" for v in values)))
    return merged(differences)


def first_difference(old, new):
    return next((i for i, (a, b) in enumerate(zip(old, new)) if a != b), min(len(old), len(new)))


def compare_bytes(old, new):
    at = first_difference(old, new)
    return [Difference("bytes", "", *(f"{len(data)} bytes, at {at}: {data[at:at + 16].hex()}" for data in (old, new)))]


def compare_text(old, new):
    pairs = itertools.zip_longest(*(CLOCK_IN_TEXT.sub("(time)", data.decode()).splitlines() for data in (old, new)), fillvalue="(none)")
    return merged(Difference("text", "", short(a), short(b)) for a, b in pairs if a != b)


def compare_file(command, file, old, new):
    """`file` is "stdout" or the path under the working folder. Returns the differences that EXEMPT does not name."""
    if old == new:
        return []
    try:
        if file.endswith(".json") or file == "stdout" and old[:1] == b"{" == new[:1]:
            return compare_json(old, new, command, file)
        if file.endswith(".jsonl"):
            return compare_lines(old, new, command, file)
        if file.endswith(".csv"):
            return compare_csv(old, new, command, file)
        if file.endswith("/report.html"):  # its numbers are those of the other files of the run, times among them
            old, new = (re.sub(rb"[0-9.]+", b"0", data) for data in (old, new))
            return [] if old == new else compare_bytes(old, new)
        if file.endswith(".safetensors"):
            return compare_safetensors(old, new, command, file)
        if file.endswith(".gz"):
            old, new = gzip.decompress(old), gzip.decompress(new)
            return [] if old == new else compare_bytes(old, new)
        if file == "stdout" or file.endswith(".txt"):
            return compare_text(old, new)
    except (ValueError, KeyError, struct.error, gzip.BadGzipFile) as error:
        return [*compare_bytes(old, new), Difference("bytes", "(form)", f"not of the form of its name: {error}", "")]
    return compare_bytes(old, new)

#!/usr/bin/env python3
"""Whether two builds of voxshard compute the same: each command runs with both, and what it wrote is compared. Standard library only.

  tests/bench/same_outputs.py OLD NEW                        # exit 1 if anything differs that is not expected
  tests/bench/same_outputs.py OLD NEW --only 'explain-.*'    # with the commands that these need
  tests/bench/same_outputs.py OLD NEW --keep /tmp/outputs    # leaves old/ and new/ there to look at
  tests/bench/same_outputs.py OLD OLD                        # that the program is deterministic, and EXEMPT complete

OLD and NEW run in two folders with the same inputs, so that relative paths in outputs agree. After each command its exit code,
its standard output and every file that it wrote are compared: same_outputs_compare.py says how and what is exempt,
same_outputs_commands.py lists the commands. What may differ, and why, stands in same_outputs_expected.json: rows of
{"command", "file", "kind", "where", "reason"}, all but the reason regular expressions that match whole (left out: anything).
Files get a fixed time after each command, because `prepare` notes those of its sources. A run that is interrupted is made
by each for itself and not compared, since the step where it stops is chance: what goes on from it is. The profile of this
machine is made by NEW alone, which may measure more ops.
"""
import argparse, collections, concurrent.futures, json, os, pathlib, re, shutil, signal, subprocess, sys, tempfile, time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from same_outputs_commands import commands, inputs
from same_outputs_compare import Difference, compare_file
from same_outputs_explain import compare_explain

HERE = pathlib.Path(__file__).resolve().parent
STAMP = 1_600_000_000  # the time that every compared file gets: what has another one was written since
LONGEST_S = 300
MOST_SHOWN = 12  # differences of a command that are printed, unexpected ones first
ROOT = b"<folder>"


def run(command, binary, folder, threads):
    """(exit code, standard output, the end of standard error)"""
    launcher = ["mpirun", "--oversubscribe", "--bind-to", "none", "-n", str(command.ranks)] if command.ranks > 1 else []
    argv = [*launcher, binary, *command.argv, "--threads", str(threads if not launcher else 1), "--quiet"]
    environment = dict(os.environ, VOXSHARD_HOST_DEVICE="host.json", OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        process = subprocess.Popen(argv, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=out, stderr=err)
        try:
            while command.stop_at and process.poll() is None:
                if (folder / command.stop_at).exists():
                    process.send_signal(signal.SIGTERM)
                    break
                time.sleep(0.005)
            code = process.wait(timeout=LONGEST_S)
        except subprocess.TimeoutExpired:
            process.kill()
            code = f"none in {LONGEST_S} s"
        out.seek(0), err.seek(0)
        return code, out.read(), err.read()[-400:].decode(errors="replace")


def written(folder):
    """Files that the last command wrote, and their times set back: relative path -> bytes."""
    files = {}
    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        if int(path.stat().st_mtime) == STAMP or path.name.startswith("events.out.tfevents."):
            continue  # an event file has the numbers of metrics.jsonl and the clock, which its name has too
        files[str(path.relative_to(folder))] = path.read_bytes().replace(str(folder).encode(), ROOT)
        os.utime(path, (STAMP, STAMP))
    return files


def chosen(only):
    """The commands whose names `only` finds, and those that they need, in order."""
    table = commands()
    by_name = {command.name: command for command in table}
    wanted, queue = set(), [command.name for command in table if re.search(only, command.name)]
    while queue:
        name = queue.pop()
        if name not in wanted:
            wanted.add(name)
            queue += by_name[name].needs
    return [command for command in table if command.name in wanted]


def compare(command, sides):
    """{file: differences, empty where equal}, and how many texts state the same facts in other words."""
    (old_code, old_out, old_files), (new_code, new_out, new_files) = sides
    found = {"exit code": [] if old_code == new_code else [Difference("exit", "", str(old_code), str(new_code))]}
    reworded = 0
    for name in ["stdout", *sorted(set(old_files) | set(new_files))]:
        old, new = (old_out, new_out) if name == "stdout" else (old_files.get(name), new_files.get(name))
        if old is None or new is None:
            found[name] = [Difference("missing", "", *("(none)" if data is None else f"{len(data)} bytes" for data in (old, new)))]
        elif name == "stdout" and command.argv[0] == "explain" and old_code == new_code == 0 and old != new:
            found[name] = compare_explain(old, new)
            reworded += not found[name]
        else:
            found[name] = compare_file(command.name, name, old, new)
    return found, reworded


class Expectations:
    def __init__(self, path):
        self.rows = json.loads(path.read_text())
        self.used = [0] * len(self.rows)

    def reason(self, command, file, difference):
        at = {"command": command, "file": file, "kind": difference.kind, "where": difference.where}
        for i, row in enumerate(self.rows):
            if all(re.fullmatch(row.get(key, ".*"), value) for key, value in at.items()):
                self.used[i] += 1
                return row["reason"]
        return None

    def unused(self, names):
        """Rows about commands that ran, but whose difference did not occur."""
        return [row for row, used in zip(self.rows, self.used) if not used and any(re.fullmatch(row.get("command", ".*"), n) for n in names)]


def line_of(file, d, reason):
    what = f"{file}: {d.kind} {d.where}".rstrip() + (f", {d.count} times" if d.count > 1 else "")
    return f"{what}: expected, {reason}" if reason else f"{what}\n      old {d.old}\n      new {d.new}"


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("old"), p.add_argument("new")
    p.add_argument("--only", default="", help="regular expression that is searched in the names of commands")
    p.add_argument("--keep", type=pathlib.Path, help="folder for old/ and new/, which is left there; thrown away first")
    p.add_argument("--expected", type=pathlib.Path, default=HERE / "same_outputs_expected.json")
    p.add_argument("--profile", type=pathlib.Path, help="host.json that doctor wrote, for both; default: NEW doctor --quick")
    p.add_argument("--threads", type=int, default=2)
    p.add_argument("--jobs", type=int, choices=[1, 2], default=1, help="2: both binaries at once")
    p.add_argument("--list", action="store_true", help="only print the commands")
    a = p.parse_args()
    table = [command for command in chosen(a.only) if command.name != "doctor" or not a.profile]
    if a.list:
        return print("\n".join(f"{c.name:40} voxshard {c.words}" for c in table)) or 0
    base = (a.keep or pathlib.Path(tempfile.mkdtemp(prefix="same_outputs."))).resolve()
    binaries = [shutil.which(path) and str(pathlib.Path(shutil.which(path)).resolve()) for path in (a.old, a.new)]
    if None in binaries:
        p.error(f"{a.old if binaries[0] is None else a.new} is not a program")
    folders = [base / side for side in ("old", "new")]
    given = inputs(HERE.parent.parent) | ({"host.json": a.profile.read_bytes()} if a.profile else {})
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        for name, data in given.items():
            (folder / name).write_bytes(data)
        written(folder)
    try:
        return report(a, table, binaries, folders)
    finally:
        if not a.keep:
            shutil.rmtree(base, ignore_errors=True)


def both(a, command, binaries, folders):
    """(exit code, standard output, files) of each side, and OLD's standard error."""
    if command.once:
        maker, other = (folders[1], folders[0]) if command.by_new else folders
        code, _, error = run(command, binaries[folders.index(maker)], maker, a.threads)
        for name in written(maker):
            target = other / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(maker / name, target)
        return [(code, b"", {})] * 2, error
    with concurrent.futures.ThreadPoolExecutor(a.jobs) as pool:
        results = list(pool.map(lambda side: run(command, *side, a.threads), zip(binaries, folders)))
    sides = [(code, out.replace(str(folder).encode(), ROOT), written(folder)) for (code, out, _), folder in zip(results, folders)]
    return [(side[0], b"", {}) for side in sides] if command.stop_at else sides, results[0][2]


def report(a, table, binaries, folders):
    expectations = Expectations(a.expected)
    totals = collections.defaultdict(collections.Counter)  # by subcommand
    begin, broken, kinds = time.monotonic(), [], collections.Counter()
    for command in table:
        start = time.monotonic()
        sides, error = both(a, command, binaries, folders)
        found, reworded = compare(command, sides)
        code, total = sides[0][0], totals[command.name.split("-")[0]]
        total.update(commands=1, files=len(found) - 1, reworded=reworded)  # the exit code is no file
        if code != 0 and not command.name.startswith("error-") and not (command.stop_at and code in (143, 1 if command.ranks > 1 else 143)):
            broken.append(command.name)
            print(f"{command.name}: OLD ended with {code}, so nothing was compared that counts: {error.strip()}")
        shown, unexpected = [], False
        for file, differences in found.items():
            reasons = [expectations.reason(command.name, file, d) for d in differences]
            state = "identical" if not differences else "expected" if None not in reasons else "different"
            total[state] += file != "exit code" or state != "identical"
            for d, reason in zip(differences, reasons):
                kinds[d.kind, "expected" if reason else "different"] += 1
                shown.append((reason is not None, f"    {line_of(file, d, reason)}"))
            unexpected |= None in reasons
        said = "DIFFERENT" if unexpected else "as expected" if shown else "same facts, other words" if reworded else "identical"
        lines = [line for _, line in sorted(shown, key=lambda entry: entry[0])]
        lines[MOST_SHOWN:] = [f"    ... and {len(lines) - MOST_SHOWN} more"] if len(lines) > MOST_SHOWN else []
        print(f"{time.monotonic() - start:6.1f} s  {command.name:44} {len(found) - 1:3} files  {said}", *lines, sep="\n", flush=True)
    print_table(totals, time.monotonic() - begin)
    for (kind, state), count in sorted(kinds.items()):
        print(f"{state}: {count} of kind {kind}")
    for row in expectations.unused([command.name for command in table]):
        print(f"expected, but did not occur: {json.dumps(row)}")
    for name in broken:
        print(f"failed with OLD: {name}")
    return 1 if broken or any(total["different"] for total in totals.values()) else 0


def print_table(totals, seconds):
    columns = ["commands", "files", "identical", "reworded", "expected", "different"]
    print(f"\n{'':12}" + "".join(f"{c:>11}" for c in columns))
    for name, total in totals.items():
        print(f"{name:12}" + "".join(f"{total[c]:11}" for c in columns))
    together = sum(totals.values(), collections.Counter())
    print(f"{'all':12}" + "".join(f"{together[c]:11}" for c in columns) + f"   in {seconds:.0f} s")
    print("files: standard outputs count as one each; reworded: identical in facts, in other words; an exit code that differs counts too")


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""What a lever of training brings: variants of `voxshard train` on the same data, seeds and fold, in turns. Standard library only.

  tests/bench/levers.py work data/labelsTr -o levers --common "--time 12m" --seeds 0,1 \\
                        --variant plain= --variant "deep=--deep-supervision on" --variant "ema=--ema 0.999"
  tests/bench/levers.py work data/labelsTr -o levers --file levers.toml      # common, seeds, [variants] and [peers] from there
  tests/bench/levers.py film.json film.json -o flies --held-out "--val-fraction 0.2" --common "--model retinanet --time 30m" \\
                        --variant fitted= --variant "usual=--anchors reference"

Every variant runs with the first seed, then every variant with the second in the opposite order, so that a slow hour of the machine is
shared and none is always the first; peers come behind the variants of their seed. Each predicts what its fold held out, which is scored
against REFERENCES: mean Dice of the annotated classes, or COCO's AP. Where DATA is a folder that `voxshard prepare` wrote, its records
say which classes count as annotated in a case; else the dataset.json beside the references does. A peer is a command in which {seed},
{threads}, {splits} (splits_final.json of the first variant, which names the cases of each fold) and {output} are replaced: what it leaves at
{output} (a folder of label maps; COCO results where REFERENCES is a file) is scored on the same cases, and where there is nothing the last
"mean Dice X" or "AP X" that it printed counts.
A file has the same words as the options:

  common = "--time 12m"
  seeds = [0, 1]
  [variants]
  plain = ""
  deep = "--deep-supervision on"
  [peers]
  torch = "python3 peer.py --seed {seed} --splits {splits} --write {output}"

A cell (variant and seed) keeps its commands, its output and its run in OUTPUT/cells/NAME/seed_N. A finished cell is not run again; one
that was cut off begins anew. OUTPUT/levers.md is written after each cell: mean and spread over the seeds, each class, seconds of a
training with its prediction, and the difference from the first variant, seed by seed, where both were scored on the same cases. Exit 1:
a cell failed, and its log says why, or was scored on other cases. Cells of several builds of the program are told.
What is held out also chooses the best checkpoint, which predicts: the numbers compare variants and are not those of unseen cases.
"""
import argparse, hashlib, json, os, re, shlex, shutil, statistics, subprocess, sys, time
from pathlib import Path

p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
p.add_argument("data", help="what `voxshard train` takes")
p.add_argument("references", type=Path, help="what `voxshard evaluate` scores against: a folder of label maps, or annotations of boxes")
p.add_argument("-o", "--output", type=Path, required=True)
p.add_argument("--file", type=Path, help="TOML with common, seeds, held-out, evaluate, [variants] and [peers]; the command line wins")
p.add_argument("--variant", action="append", metavar="NAME=OPTIONS", help="the first is what the others are compared with")
p.add_argument("--peer", action="append", metavar="NAME=COMMAND")
p.add_argument("--common", help="options of every variant")
p.add_argument("--held-out", help='options that say what is held out; default: "--fold 0"')
p.add_argument("--evaluate", help="more options of evaluate; default: --dataset with DATA where `voxshard prepare` "
               "wrote it from cases of the references, else where a dataset.json lies beside the references")
p.add_argument("--seeds", help="with commas; default: 0,1")
p.add_argument("--threads", type=int, default=2)
p.add_argument("--voxshard", default="build/release/bin/voxshard")
a = p.parse_args()

PRINTED = re.compile(r"\b(?:mean Dice|AP) (\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)")
GOOD = (0, 8)  # of voxshard; 8: something was left out, which the log says


def are_references_of_prepared():
    """True where the data are a folder that `voxshard prepare` wrote, with records of cases that are among the references."""
    listing = Path(a.data) / "dataset.json"
    if not ((Path(a.data) / "plans.json").exists() and listing.exists() and a.references.is_dir()):
        return False
    cases = {one.get("case") for one in json.loads(listing.read_text()).get("cases", [])}
    return any(one.name.startswith(f"{case}.") for one in a.references.iterdir() for case in cases)


def settings():
    """Returns the settings of the file under those of the command line."""
    of_file = {}
    if a.file:
        import tomllib  # Python 3.11

        of_file = tomllib.loads(a.file.read_text())
    known = {"common", "seeds", "held-out", "evaluate", "variants", "peers"}
    if unknown := set(of_file) - known:
        sys.exit(f"{a.file}: unknown {', '.join(sorted(unknown))}; expected {', '.join(sorted(known))}")
    pairs = lambda given, key: dict(one.partition("=")[::2] for one in given) if given else of_file.get(key, {})
    beside = a.references.parent / "dataset.json"
    made = {
        "variants": pairs(a.variant, "variants"),
        "peers": pairs(a.peer, "peers"),
        "common": of_file.get("common", "") if a.common is None else a.common,
        "held-out": of_file.get("held-out", "--fold 0") if a.held_out is None else a.held_out,
        "evaluate": a.evaluate if a.evaluate is not None else of_file.get("evaluate"),
        "seeds": [int(seed) for seed in a.seeds.split(",")] if a.seeds else of_file.get("seeds", [0, 1]),
    }
    if made["evaluate"] is None:
        known = a.data if are_references_of_prepared() else str(beside.parent) if a.references.is_dir() and beside.exists() else None
        made["evaluate"] = shlex.join(["--dataset", known]) if known else ""
    names = [*made["variants"], *made["peers"]]
    if not made["variants"] or len(set(names)) < len(names) or not all(re.fullmatch(r"\w[\w.+-]{0,63}", name) for name in names):
        sys.exit("give variants and peers names of letters, digits and _ . + - that differ, and at least one variant")
    if len(set(made["seeds"])) < len(made["seeds"]):
        sys.exit("give each seed once: the same numbers again are no further sample")
    return made


def run(command, log):
    """Runs a command, appends it and what it prints to the log, and returns its exit code, standard output and seconds."""
    with log.open("a") as file:
        print("$", shlex.join(command), file=file, flush=True)
        begin = time.monotonic()
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=file, text=True)
        seconds = time.monotonic() - begin
        print(done.stdout, f"exit {done.returncode} after {seconds:.1f} s", sep="", file=file)
    return done.returncode, done.stdout, seconds


def score_of(found, folder, log):
    """Returns the score of predictions, that of each class (one without objects has none), and the cases that were scored, or the
    number of images. None: they cannot be scored."""
    command = [a.voxshard, "evaluate", str(found), str(a.references), "-o", str(folder / "scores.json"), "--json", "--quiet"]
    code, text, _ = run([*command, *shlex.split(s["evaluate"])], log)
    if code not in GOOD:
        return None
    scores = json.loads(text)
    key = "mean_dice" if "mean_dice" in scores else "AP"
    number = lambda value: value if isinstance(value, (int, float)) and value >= 0 else None  # COCO's -1: no such object
    of = sorted(one["case"] for one in scores["cases"]) if key == "mean_dice" else scores["images"]
    return number(scores[key]), {one["name"]: number(one["dice" if key == "mean_dice" else "AP"]) for one in scores["classes"]}, of


def score_same_cases(output, run):
    """Lays the list of what the first variant did not predict beside what a peer predicted: evaluate would count that as missed."""
    asked = next(iter(sorted(run.rglob("*trained_on.json"))), None)
    beside = output / "trained_on.json" if output.is_dir() else output.with_suffix(".trained_on.json")
    if asked and not beside.exists():
        shutil.copyfile(asked, beside)


def cell(name, seed):
    """Runs a cell unless it is finished. Returns its score, those of its classes, and its seconds; None: it failed."""
    folder = a.output / "cells" / name / f"seed_{seed}"
    file, log, peer = folder / "cell.json", folder / "log.txt", s["peers"].get(name)
    made_of = {"data": a.data, "references": str(a.references), "evaluate": s["evaluate"], "threads": a.threads,
               "peer": peer} if peer else {"data": a.data, "references": str(a.references), "evaluate": s["evaluate"],
                                           "options": f"{s['held-out']} {s['common']} {s['variants'][name]}", "threads": a.threads}
    if file.exists():
        kept = json.loads(file.read_text())
        if kept["made_of"] != made_of or kept.get("held-out", s["held-out"]) != s["held-out"]:
            sys.exit(f"{file} was made of {kept['made_of']}, not of {made_of}; give another --output, or remove its folder")
        return kept
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    output = folder / ("found" if a.references.is_dir() else "found.json")
    if peer:
        first = a.output / "cells" / next(iter(s["variants"])) / f"seed_{seed}" / "run"
        words = {"seed": seed, "threads": a.threads, "output": output, "splits": first / "splits_final.json"}
        command = [re.sub(r"\{(seed|threads|output|splits)\}", lambda m: str(words[m[1]]), word) for word in shlex.split(peer)]
    else:
        command = [a.voxshard, "train", a.data, "-o", str(folder / "run"), "--seed", str(seed), "--threads", str(a.threads),
                   "--predict-held-out", "on", "--json", *shlex.split(made_of["options"])]
    code, text, seconds = run(command, log)
    if code not in (GOOD if not peer else (0,)):
        return None
    if peer and output.exists():
        score_same_cases(output, first)
    if not peer:
        output = Path((json.loads(text).get("held_out") or {}).get("output", folder / "none"))
    scored = score_of(output, folder, log) if output.exists() else None
    if peer and not output.exists() and (printed := PRINTED.findall(text)):
        scored = float(printed[-1]), {}, None
    if scored is None or scored[0] is None:
        return None
    made = {"made_of": made_of, "held-out": s["held-out"], "build": build, "score": scored[0], "classes": scored[1],
            "scored": scored[2], "seconds": seconds}
    part = file.with_suffix(".part")
    part.write_text(json.dumps(made, indent=1) + "\n")
    os.replace(part, file)
    return made


def number(value, digits=3):
    return "" if value is None else f"{value:.{digits}f}"


def spread(values):
    """Returns "0.748 ± 0.012", mean and deviation of the sample; of one value that value."""
    values = [value for value in values if value is not None]
    if len(values) < 2:
        return number(values[0] if values else None)
    return f"{statistics.mean(values):.3f} ± {statistics.stdev(values):.3f}"


def comparable(one, other):
    """False where two cells are known to be scored on other cases."""
    return None in (one.get("scored"), other.get("scored")) or one["scored"] == other["scored"]


def table(cells):
    """Returns the Markdown table of the finished cells, by name and seed."""
    names = [*s["variants"], *s["peers"]]
    done = {name: {seed: one for seed in s["seeds"] if (one := cells.get((name, seed)))} for name in names}
    classes = list(dict.fromkeys(c for name in names for one in done[name].values() for c in one["classes"]))
    head = ["variant", "n", "mean", "least", "largest", f"minus {names[0]}", *(f"seed {seed}" for seed in s["seeds"]), "seconds", *classes]
    lines = [head, ["---"] * len(head)]
    for name in names:
        scores = [one["score"] for one in done[name].values()]
        pairs = [one["score"] - first["score"] for seed, one in done[name].items()
                 if (first := done[names[0]].get(seed)) and comparable(one, first)]
        lines.append([name, str(len(scores)), spread(scores), number(min(scores, default=None)), number(max(scores, default=None)),
                      spread(pairs) if name != names[0] else "",
                      *(number(done[name][seed]["score"] if seed in done[name] else None) for seed in s["seeds"]),
                      number(statistics.mean(one["seconds"] for one in done[name].values()) if scores else None, 0),
                      *(spread(one["classes"].get(c) for one in done[name].values()) for c in classes)])
    return "\n".join("| " + " | ".join(word.replace("|", "\\|") for word in line) + " |" for line in lines)


def faults(cells):
    """Returns what a reader must know of the table: cells that failed, those of other cases than the first variant, and other builds."""
    found = []
    for (name, seed), one in cells.items():
        first = cells.get((next(iter(s["variants"])), seed))
        if one is None:
            found.append(f"{name}, seed {seed}: failed; see {a.output / 'cells' / name / f'seed_{seed}' / 'log.txt'}")
        elif first and not comparable(one, first):
            found.append(f"{name}, seed {seed}: scored on other cases than {next(iter(s['variants']))}, and not compared with it")
    return found


s = settings()
build = hashlib.sha256(Path(shutil.which(a.voxshard) or sys.exit(f"{a.voxshard} is no program")).read_bytes()).hexdigest()[:12]
a.output.mkdir(parents=True, exist_ok=True)
cells = {}
for turn, seed in enumerate(s["seeds"]):
    for name in [*list(s["variants"])[:: 1 if turn % 2 == 0 else -1], *s["peers"]]:
        cells[name, seed] = cell(name, seed)
        builds = {one["build"] for one in cells.values() if one and one.get("build")}
        text = "\n".join([table(cells), "", f"Options of all: {s['held-out']} {s['common']}".rstrip() + "; mean ± deviation of the sample.",
                          *(f"{variant}: {options or 'no more options'}" for variant, options in (s["variants"] | s["peers"]).items()),
                          *([f"Cells of {len(builds)} builds: {', '.join(sorted(builds))}."] if len(builds) > 1 else []), *faults(cells)])
        (a.output / "levers.md").write_text(text + "\n")
        print(f"{name}, seed {seed}: " + (number(cells[name, seed]["score"]) if cells[name, seed] else "failed"), file=sys.stderr)
print(text)
sys.exit(1 if faults(cells) else 0)

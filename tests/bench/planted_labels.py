#!/usr/bin/env python3
"""What training loses where classes were not annotated in some cases, by labels deleted from complete ones.

  /usr/bin/python3 tests/bench/planted_labels.py DATA -o planted --classes Brainstem,Mandible --common "--steps 500 --base-filters 8"

Needs Debian's python3-nibabel. DATA is a data set in nnU-Net's form. Classes that fewer than --least-share of its cases have become
background; of the cases those with a voxel of every other class are taken; of a share of these (--share, by --seed-of-faults) the
labels of --classes become background too. Four trainings on the same images, folds, seeds and steps:
  complete      all labels
  unknown       labels deleted, and dataset.json says by "annotated" which classes such a case has
  auto          labels deleted, and dataset.json does not say so: prepare's --missing-classes auto decides
  background    labels deleted, and prepared with --missing-classes background: as if the classes were not there
Each predicts what its fold holds out, which is scored against all labels. A Markdown table: Dice of each class, mean over the
seeds, and what the others lack of `complete`. Exit 1: a command fails, or a deleted class lacks more than 0.02 in `unknown` or `auto`.
"""
import argparse, json, random, shlex, shutil, statistics, subprocess, sys
from pathlib import Path

import nibabel
import numpy as np

MOST_LOST = 0.02
GOOD = (0, 8)  # of voxshard; 8: something was left out, which it says

p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
p.add_argument("data", type=Path)
p.add_argument("-o", "--output", type=Path, required=True)
p.add_argument("--classes", required=True, help="names, with commas, whose labels are deleted")
p.add_argument("--share", type=float, default=0.5, help="of the complete cases, from which they are deleted")
p.add_argument("--least-share", type=float, default=0.75, help="of the cases, which must have a class that is kept")
p.add_argument("--seed-of-faults", type=int, default=0)
p.add_argument("--seeds", default="0", help="of the trainings, with commas")
p.add_argument("--prepare", default="", help="more options of prepare")
p.add_argument("--common", default="", help="options of every training")
p.add_argument("--variants", default="complete,unknown,auto,background")
p.add_argument("--threads", default="2")
p.add_argument("--voxshard", default="build/release/bin/voxshard")
a = p.parse_args()


def voxshard(*words):
    done = subprocess.run([a.voxshard, *map(str, words), "--threads", a.threads, "--quiet"], stdout=subprocess.PIPE, text=True)
    if done.returncode not in GOOD:
        sys.exit(f"exit {done.returncode}: {shlex.join(map(str, done.args))}")
    return done.stdout


def kept_cases(labels):
    """Returns the label files of the cases with all common classes, the number of those that lack one, and the common classes."""
    files = sorted((a.data / "labelsTr").glob("*.nii.gz"))
    found = {file: set(np.unique(np.asanyarray(nibabel.load(file).dataobj)).tolist()) for file in files}
    common = [name for name in labels if sum(labels[name] in one for one in found.values()) >= a.least_share * len(files)]
    kept = [file for file in files if {labels[name] for name in common} <= found[file]]
    return kept, len(files) - len(kept), common


def write_data_set(folder, files, names, deleted, told):
    """Writes a data set of some cases with the classes `names`. `deleted`: by case the names of the classes that become background;
    `told`: dataset.json says so."""
    for part in ("imagesTr", "labelsTr"):
        (folder / part).mkdir(parents=True)
    made = {key: value for key, value in listing.items() if key not in ("annotated", "labels")} | {
        "numTraining": len(files), "labels": {"background": 0} | {name: number for number, name in enumerate(names, 1)}}
    for file in files:
        case = file.name.removesuffix(".nii.gz")
        for image in (a.data / "imagesTr").glob(f"{case}_[0-9][0-9][0-9][0-9].nii.gz"):
            shutil.copyfile(image, folder / "imagesTr" / image.name)
        label = nibabel.load(file)
        old = np.asanyarray(label.dataobj)
        new = np.zeros(old.shape, np.uint8)
        for number, name in enumerate(names, 1):
            if name not in deleted.get(case, ()):
                new[old == labels[name]] = number
        written = nibabel.Nifti1Image(new, label.affine, label.header)
        written.set_data_dtype(np.uint8)
        nibabel.save(written, folder / "labelsTr" / file.name)
        if told and case in deleted:
            made.setdefault("annotated", {})[case] = [name for name in names if name not in deleted[case]]
    (folder / "dataset.json").write_text(json.dumps(made, indent=1) + "\n")


def dice_of(variant, references):
    """Prepares, trains with each seed and scores; returns the Dice of each class by seed."""
    folder = a.output / variant
    rule = ["--missing-classes", variant] if variant in ("auto", "background") else []
    voxshard("prepare", folder / "data", "-o", folder / "work", *rule, *shlex.split(a.prepare))
    scores = []
    for seed in a.seeds.split(","):
        run = folder / f"seed_{seed}"
        voxshard("train", folder / "work", "-o", run, "--fold", 0, "--seed", seed, "--predict-held-out", "on", *shlex.split(a.common))
        found = json.loads(voxshard("evaluate", run / "held_out", references, "-o", folder / f"seed_{seed}.json", "--json"))
        scores.append({one["name"]: one["dice"] for one in found["classes"]})
        print(f"{variant}, seed {seed}: mean Dice {found['mean_dice']:.3f} of {len(found['cases'])} cases", file=sys.stderr, flush=True)
    return {name: [one[name] for one in scores] for name in scores[0]}


listing = json.loads((a.data / "dataset.json").read_text())
labels = {name: number for name, number in listing["labels"].items() if number != 0}
chosen = a.classes.split(",")
files, others, common = kept_cases(labels)
if unknown := set(chosen) - set(common):
    sys.exit(f"{', '.join(sorted(unknown))}: no class that most cases of {a.data} have; these are {', '.join(common)}")
if len(files) < 2:
    sys.exit(f"{len(files)} cases of {a.data} have all of {', '.join(common)}")
picked = random.Random(a.seed_of_faults).sample(files, round(a.share * len(files)))
deleted = {file.name.removesuffix(".nii.gz"): chosen for file in picked}
a.output.mkdir(parents=True)
variants = a.variants.split(",")
for variant in dict.fromkeys(["complete", *variants]):
    write_data_set(a.output / variant / "data", files, common, deleted if variant != "complete" else {}, variant == "unknown")
dice = {variant: dice_of(variant, a.output / "complete" / "data" / "labelsTr") for variant in variants}
print(f"{len(files)} cases with {', '.join(common)} ({others} others left out); {', '.join(chosen)} deleted from {len(picked)} of them")
print("| class | " + " | ".join(variants) + " | " + " | ".join(f"{one} lacks" for one in variants[1:]) + " |")
print("|---" * (2 * len(variants)) + "|")
lost = []
for name in dice[variants[0]]:
    means = {variant: statistics.mean(dice[variant][name]) for variant in variants}
    lacks = {variant: means[variants[0]] - means[variant] for variant in variants[1:]}
    if name in chosen and max(lacks.get("unknown", 0), lacks.get("auto", 0)) > MOST_LOST:
        lost.append(name)
    print(f"| {name}{' (deleted)' if name in chosen else ''} | " + " | ".join(f"{means[v]:.3f}" for v in variants) + " | " +
          " | ".join(f"{lacks[v]:+.3f}" for v in variants[1:]) + " |")
if lost:
    print(f"lacks more than {MOST_LOST}: {', '.join(lost)}")
sys.exit(1 if lost else 0)

#!/usr/bin/env python3
"""Scores of detections by COCO's rules, written from their description and not from libcore/metrics: the stored cases of
average_precision_cases_test.cc. Plain Python 3, no packages (pycocotools is not in Debian 12).

    python3 tests/metrics/coco_oracle.py > tests/metrics/coco_cases.json

Rules: cocodataset.org/#detection-eval and PythonAPI/pycocotools/cocoeval.py. What is stored: truths [image, class, x, y,
width, height, area, crowd, ignore], detections [image, class, x, y, width, height, score], and the twelve numbers.
"""
import json
import random

STEP = (0.95 - 0.5) / 9
IOUS = [i * STEP + 0.5 for i in range(9)] + [0.95]
RECALLS = [i * 0.01 for i in range(100)] + [1.0]
AREAS = {"all": (0, 1e10), "small": (0, 1024), "medium": (1024, 9216), "large": (9216, 1e10)}


def overlap(det, truth):
    wide = min(det[2] + det[4], truth[2] + truth[4]) - max(det[2], truth[2])
    high = min(det[3] + det[5], truth[3] + truth[5]) - max(det[3], truth[3])
    if wide <= 0 or high <= 0:
        return 0.0
    own, other = det[4] * det[5], truth[4] * truth[5]
    return wide * high / (own if truth[7] else own + other - wide * high)


def outcomes(truths, dets, threshold, low, high):
    """'hit', 'miss' or None (does not count) for each detection of one image and class, best first; and the number of
    truths that count."""
    counts = [not t[7] and not t[8] and low <= t[6] <= high for t in truths]
    free = [True] * len(truths)
    result = []
    for det in dets:
        reached = [(overlap(det, t), i) for i, t in enumerate(truths) if overlap(det, t) >= min(threshold, 1 - 1e-10)]
        good = [c for c in reached if counts[c[1]] and free[c[1]]]
        other = [c for c in reached if not counts[c[1]] and (free[c[1]] or truths[c[1]][7])]
        taken = max(good or other, default=None)
        if taken:
            free[taken[1]] = False
        inside = low <= det[4] * det[5] <= high
        result.append(("hit" if good else None) if taken else ("miss" if inside else None))
    return result, sum(counts)


def curve(images, most, threshold, area):
    """(recall, precision) after each detection over all images, or None when nothing counts."""
    low, high = AREAS[area]
    ranked, wanted = [], 0
    for truths, dets in images:
        kinds, counting = outcomes(truths, dets, threshold, low, high)
        wanted += counting
        ranked += list(zip([d[6] for d in dets], kinds))[:most]
    if wanted == 0:
        return None
    hits = wrong = 0
    points = []
    for _, kind in sorted(ranked, key=lambda pair: -pair[0]):  # stable
        hits += kind == "hit"
        wrong += kind == "miss"
        points.append((hits / wanted, hits / (hits + wrong) if hits else 0.0))
    return points


def by_image(case, category):
    for image in range(case["images"]):
        truths = [t for t in case["truths"] if t[:2] == [image, category]]
        dets = sorted((d for d in case["detections"] if d[:2] == [image, category]), key=lambda d: -d[6])[:100]
        if truths or dets:
            yield truths, dets


def mean(values):
    values = list(values)
    return sum(values) / len(values) if values else -1


def average(case, recall, most=100, area="all", ious=IOUS):
    values = []
    for category in range(case["categories"]):
        images = list(by_image(case, category))
        for threshold in ious:
            points = curve(images, most, threshold, area)
            if points is None:
                continue
            if recall:
                values.append(points[-1][0] if points else 0.0)
            else:
                values += [max((p for r, p in points if r >= at), default=0.0) for at in RECALLS]
    return mean(values)


def numbers(case):
    precisions = [average(case, False), average(case, False, ious=[0.5]), average(case, False, ious=[IOUS[5]])]
    precisions += [average(case, False, area=a) for a in ("small", "medium", "large")]
    recalls = [average(case, True, most=m) for m in (1, 10, 100)]
    return precisions + recalls + [average(case, True, area=a) for a in ("small", "medium", "large")]


def random_case(name, seed, images, categories, truths, extra, crowd=0.0, ignore=0.0, sides=(6, 130), ties=False):
    rng = random.Random(seed)
    case = {"name": name, "images": images, "categories": categories, "truths": [], "detections": []}

    def box():
        w, h = rng.randint(*sides), rng.randint(*sides)
        return [rng.randint(0, 300 - w), rng.randint(0, 300 - h), w, h]

    def score():
        return rng.randint(1, 5) / 5 if ties else round(rng.random(), 4)

    for image in range(images):
        for category in range(categories):
            for _ in range(rng.randint(0, truths)):
                b = box()
                is_crowd = rng.random() < crowd
                area = round(b[2] * b[3] * rng.uniform(0.5, 1), 1)
                case["truths"].append([image, category] + b + [area, int(is_crowd), int(rng.random() < ignore)])
                for _ in range(rng.choice([0, 1, 1, 1, 2])):
                    near = [v + rng.randint(-4, 4) for v in b[:2]] + [max(1, v + rng.randint(-5, 5)) for v in b[2:]]
                    case["detections"].append([image, category] + near + [score()])
            for _ in range(rng.randint(0, extra)):
                case["detections"].append([image, category] + box() + [score()])
    rng.shuffle(case["detections"])
    case["numbers"] = numbers(case)
    return case


def main():
    cases = [
        random_case("three classes, all sizes", 1, 6, 3, 4, 3),
        random_case("crowds and boxes to be ignored", 2, 8, 2, 4, 4, crowd=0.3, ignore=0.2),
        random_case("equal scores", 3, 8, 2, 3, 6, crowd=0.1, ties=True),
        random_case("small boxes only", 4, 5, 2, 5, 3, sides=(5, 25)),
        random_case("more than 100 detections of an image", 5, 2, 1, 12, 150, crowd=0.1),
    ]
    print("[")
    print(",\n".join(json.dumps(case, separators=(",", ":")) for case in cases))
    print("]")


if __name__ == "__main__":
    main()

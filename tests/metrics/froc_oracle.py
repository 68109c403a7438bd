#!/usr/bin/env python3
"""FROC of detections, written from the descriptions in libcore/metrics/froc.h and not from its code: the stored cases of
froc_test.cc. Plain Python 3, no packages; np.interp and roc_curve of the published scripts are written out.

    python3 tests/metrics/froc_oracle.py > tests/metrics/froc_cases.json

Every threshold is judged on its own: the detections of at least that score are matched anew, and counted. What is stored:
truths [image, class, x, y, width, height, crowd, ignore], detections [image, class, x, y, width, height, score], and for
each rule the seven sensitivities and CPM of all classes together, and the CPM of each class (-1: no object).
"""
import json
import random

RATES = [1 / 8, 1 / 4, 1 / 2, 1, 2, 4, 8]
RULES = [["iou", "once", 0.1], ["iou", "once", 0.5], ["centre", "once", 0.1], ["both", "once", 0.3], ["either", "once", 0.5],
         ["iou", "any", 0.1], ["centre", "any", 0.1]]


def overlap(det, truth):
    wide = min(det[2] + det[4], truth[2] + truth[4]) - max(det[2], truth[2])
    high = min(det[3] + det[5], truth[3] + truth[5]) - max(det[3], truth[3])
    if wide <= 0 or high <= 0:
        return 0.0
    return wide * high / (det[4] * det[5] + (0 if truth[6] else truth[4] * truth[5] - wide * high))


def is_hit(det, truth, rule, least):
    iou = overlap(det, truth)
    near = iou >= least
    cx, cy = det[2] + det[4] / 2, det[3] + det[5] / 2
    inside = truth[2] <= cx <= truth[2] + truth[4] and truth[3] <= cy <= truth[3] + truth[5]
    return {"iou": near, "centre": inside, "both": near and inside, "either": near or inside}[rule]


def counts_at(truths, dets, threshold, rule, matching, least):
    """(found objects, false positives) of one image and class with the detections of at least this score."""
    kept = sorted((d for d in dets if d[6] >= threshold), key=lambda d: -d[6])  # stable
    good = [t for t in truths if not t[6] and not t[7]]
    odd = [t for t in truths if t[6] or t[7]]
    if matching == "any":
        found = sum(any(is_hit(d, t, rule, least) for d in kept) for t in good)
        return found, sum(not any(is_hit(d, t, rule, least) for t in truths) for d in kept)
    free, false = list(range(len(good))), 0
    for d in kept:
        reached = [(overlap(d, good[i]), i) for i in free if is_hit(d, good[i], rule, least)]
        if reached:
            free.remove(max(reached)[1])
        elif not any(is_hit(d, t, rule, least) for t in odd):
            false += 1
    return len(good) - len(free), false


def curve(case, categories, rule, matching, least):
    """[(false positives per image, sensitivity)] for every distinct score, highest first; None without objects."""
    groups = [([t for t in case["truths"] if t[:2] == [i, c]], [d for d in case["detections"] if d[:2] == [i, c]])
              for i in range(case["images"]) for c in categories]
    objects = sum(not t[6] and not t[7] for truths, _ in groups for t in truths)
    if objects == 0:
        return None
    points = []
    for threshold in sorted({d[6] for _, dets in groups for d in dets}, reverse=True):
        pairs = [counts_at(truths, dets, threshold, rule, matching, least) for truths, dets in groups]
        points.append((sum(p[1] for p in pairs) / case["images"], sum(p[0] for p in pairs) / objects))
    return points


def interpolated(points, rate):
    before = [(0.0, 0.0)] + [p for p in points if p[0] <= rate]
    after = [p for p in points if p[0] > rate]
    x0, y0 = before[-1]
    if not after:
        return y0
    x1, y1 = after[0]
    return y0 + (y1 - y0) * (rate - x0) / (x1 - x0)


def sensitivities(case, categories, rule):
    points = curve(case, categories, *rule)
    return [-1] * len(RATES) if points is None else [interpolated(points, rate) for rate in RATES]


def random_case(name, seed, images, categories, truths, extra, crowd=0.0, ignore=0.0, ties=False, side=300):
    rng = random.Random(seed)
    case = {"name": name, "images": images, "categories": categories, "truths": [], "detections": []}

    def box():
        w, h = rng.randint(6, 90), rng.randint(6, 90)
        return [rng.randint(0, side - w), rng.randint(0, side - h), w, h]

    def score():
        return rng.randint(1, 5) / 5 if ties else round(rng.random(), 4)

    for image in range(images):
        for category in range(categories):
            for _ in range(rng.randint(0, truths)):
                b = box()
                case["truths"].append([image, category] + b + [int(rng.random() < crowd), int(rng.random() < ignore)])
                for _ in range(rng.choice([0, 1, 1, 2])):
                    near = [v + rng.randint(-25, 25) for v in b[:2]] + [max(1, v + rng.randint(-9, 9)) for v in b[2:]]
                    case["detections"].append([image, category] + near + [score()])
            for _ in range(rng.randint(0, extra)):
                case["detections"].append([image, category] + box() + [score()])
    rng.shuffle(case["detections"])
    case["rules"] = []
    for rule in RULES:
        values = sensitivities(case, range(categories), rule)
        by_class = [sensitivities(case, [c], rule) for c in range(categories)]
        case["rules"].append({"rule": rule, "sensitivities": values, "cpm": sum(values) / len(values),
                              "classes": [sum(v) / len(v) for v in by_class]})
    return case


def main():
    cases = [
        random_case("three classes", 1, 12, 3, 3, 5),
        random_case("crowds and boxes to be ignored", 2, 10, 2, 4, 6, crowd=0.2, ignore=0.2),
        random_case("equal scores", 3, 10, 2, 4, 8, crowd=0.1, ties=True),
        random_case("objects on top of each other", 4, 6, 1, 7, 4, side=130),
        random_case("no object of some classes", 5, 2, 4, 1, 3),
    ]
    print("[")
    print(",\n".join(json.dumps(case, separators=(",", ":")) for case in cases))
    print("]")


if __name__ == "__main__":
    main()

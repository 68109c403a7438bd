#!/usr/bin/env python3
"""The numbers of tests/metrics/classified_test.cc, counted the slow way in Python 3.11: every pair for the areas under the
ROC curves, every item for each bin. Prints them; nothing of voxshard is used."""
ITEMS, CLASSES, BINS = 60, 4, 15

rows, truth = [], []
for i in range(ITEMS):
    raw = [1 + (i * 7 + c * c * 13 + i * c * 5) % 11 for c in range(CLASSES)]
    truth.append((i * i + i // 3) % 3)  # class 3 is absent
    raw[truth[-1]] += i % 9
    rows.append([r / sum(raw) for r in raw])


def ranked(row):
    return sorted(range(CLASSES), key=lambda c: (-row[c], c))


def area(one):
    inside = [r[one] for r, t in zip(rows, truth) if t == one]
    outside = [r[one] for r, t in zip(rows, truth) if t != one]
    if not inside or not outside:
        return None
    return sum((a > b) + 0.5 * (a == b) for a in inside for b in outside) / (len(inside) * len(outside))


def calibration():
    error, table = 0, []
    for m in range(BINS):
        held = [i for i in range(ITEMS) if m / BINS < max(rows[i]) <= (m + 1) / BINS]
        if held:
            right = sum(ranked(rows[i])[0] == truth[i] for i in held) / len(held)
            sure = sum(max(rows[i]) for i in held) / len(held)
            table.append((m, len(held), sure, right))
            error += len(held) / ITEMS * abs(right - sure)
    return error, table


matrix = [[0] * CLASSES for _ in range(CLASSES)]
for row, t in zip(rows, truth):
    matrix[t][ranked(row)[0]] += 1
print("top 1 to 4", [sum(t in ranked(r)[:k] for r, t in zip(rows, truth)) / ITEMS for k in range(1, 5)])
print("confusion", matrix)
print("areas", [area(c) for c in range(CLASSES)])
print("calibration", calibration())

#!/usr/bin/env python3
"""Reading videos to full-resolution RGB against ffmpeg, whole processes, equal threads, taking turns. Standard library only.

  tests/bench/video_decode.py clip.mp4 other.mkv --threads 2 --rounds 5
  tests/bench/video_decode.py clip.mp4 --sws-flags accurate_rnd+full_chroma_int+full_chroma_inp     # ffmpeg as accurate as we are

Each round runs `voxshard bench video FILE` and `ffmpeg -threads N -i FILE -map 0:V:0 -pix_fmt rgb24 -f null -` once; the result
is one JSON document: the speed of voxshard over that of ffmpeg per file (1: as fast, 2: twice as fast), from the medians of
the wall clock and of the processor's time (which other work on the machine disturbs less). Starting voxshard costs 0.1 s
more than starting ffmpeg: take clips of some seconds of work.
"""
import argparse, json, os, statistics, subprocess, time

p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
p.add_argument("files", nargs="+")
p.add_argument("--voxshard", default="build/release/bin/voxshard")
p.add_argument("--ffmpeg", default="ffmpeg")
p.add_argument("--threads", type=int, default=2)
p.add_argument("--rounds", type=int, default=5)
p.add_argument("--sws-flags", help="of ffmpeg's conversion; its default is fast and does not interpolate chroma")
a = p.parse_args()


def timed(command):
    """(wall seconds, processor seconds), standard output"""
    start, before = time.monotonic(), os.times()
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}\n{done.stderr}")
    after = os.times()
    used = after.children_user + after.children_system - before.children_user - before.children_system
    return (time.monotonic() - start, used), done.stdout


def ours(file):
    spent, out = timed([a.voxshard, "bench", "video", file, "--threads", str(a.threads), "--json", "--quiet"])
    result = json.loads(out)
    return spent, {"frames": result["frames"], "size": f"{result['width']}x{result['height']}",
                  "peak_mib": result["peak_resident_bytes"] / 2**20}


def theirs(file):
    flags = ["-sws_flags", a.sws_flags] if a.sws_flags else []
    return timed([a.ffmpeg, "-v", "error", "-nostdin", "-threads", str(a.threads), "-i", file, "-map", "0:V:0",
                    "-filter_threads", str(a.threads), *flags, "-vsync", "passthrough", "-pix_fmt", "rgb24", "-f", "null", "-"])[0]


report = []
for file in a.files:
    mine, peer, facts = [], [], {}
    for _ in range(a.rounds):
        spent, facts = ours(file)
        mine.append(spent)
        peer.append(theirs(file))
    row = {"file": file, **facts}
    for i, clock in enumerate(["wall", "processor"]):
        us, them = [m[i] for m in mine], [p[i] for p in peer]
        row[clock] = {"voxshard_s": statistics.median(us), "ffmpeg_s": statistics.median(them),
                      "speed_ratio": statistics.median(them) / statistics.median(us),
                      "ratios": [t / m for m, t in zip(us, them)]}
    report.append(row)
print(json.dumps({"threads": a.threads, "rounds": a.rounds, "sws_flags": a.sws_flags, "files": report}, indent=1))

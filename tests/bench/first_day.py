#!/usr/bin/env python3
"""A new user's first day, played in a pseudo-terminal of 100 columns in an empty folder. Standard library only.

  tests/bench/first_day.py build/release/bin/voxshard first_day.txt               # about 8 minutes
  tests/bench/first_day.py build/release/bin/voxshard first_day.txt --time 20s    # with shorter trainings

Commands are read out of what the program prints: the example of its help, then each `next:` line. After the way from `demo` to
scores come `status`, `info` and `report`, then mistakes: a wrong option and command, folders that are missing, a second training
in the same folder, a budget that is too small, raised as the refusals say, and a training that Ctrl-C interrupts and that goes on.
OUTPUT gets the session as the screen keeps it (a progress line as it was last), the time at the left. Ends with 1, and says why,
when a suggested command fails, a suggestion is missing, or report.html lacks a number of results.csv or validations.csv.
"""
import argparse, codecs, csv, fcntl, json, math, os, re, select, shlex, signal, struct, sys, tempfile, termios, time
from pathlib import Path

COLUMNS, LONGEST_S = 100, 1200
FOLLOWS = {"demo": "prepare", "prepare": "train", "train": "predict", "predict": "evaluate"}  # what each must suggest
MOST_COMMANDS = 10
NUMBER_ATTRIBUTE = re.compile(r'data-value="([^"]*)"')

p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
p.add_argument("voxshard")
p.add_argument("output", help="text file of the session")
p.add_argument("--time", help="in place of the time that the program suggests for a training")
p.add_argument("--folder", help="empty folder to work in, which is kept")
a = p.parse_args()
problems, session, start = [], [], time.monotonic()


def clock():
    seconds = int(time.monotonic() - start)
    return f"{seconds // 60:02}:{seconds % 60:02}"


class Screen:
    """The lines that a terminal keeps, each with the time at which it ended. Knows carriage returns and 'erase to the end'."""

    def __init__(self):
        self.lines, self.line, self.column, self.pending = [], "", 0, ""
        self.decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def feed(self, data):
        text = self.pending + self.decoder.decode(data)
        cut = re.search(r"\x1b(\[[0-9;?]*)?$", text)  # an escape sequence whose end has not come yet
        self.pending = text[cut.start():] if cut else ""
        for piece in re.findall(r"\x1b\[[0-9;?]*[A-Za-z]|[\r\n]|[^\x1b\r\n]+|\x1b", text[: cut.start()] if cut else text):
            if piece == "\n":
                self.lines.append((clock(), self.line))
                self.line, self.column = "", 0
            elif piece == "\r":
                self.column = 0
            elif piece == "\x1b[K":
                self.line = self.line[: self.column]
            elif not piece.startswith("\x1b"):
                self.line = self.line[: self.column].ljust(self.column) + piece + self.line[self.column + len(piece):]
                self.column += len(piece)

    def text(self):
        return "\n".join(line for _, line in self.lines) + "\n" + self.line


def play(words, codes=(0,), stop_at=None, before=""):
    """Types a command and returns its text and exit code. `stop_at`: Ctrl-C is typed once a training has made so many steps.
    `before`: what a problem says in front of the command."""
    line = shlex.join(["voxshard", *words])
    session.append(f"{clock()} $ {line}")
    print(session[-1], flush=True)
    terminal, program_side = os.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, COLUMNS, 0, 0))
    child = os.fork()
    if child == 0:
        try:
            os.login_tty(program_side)
            os.execv(voxshard, ["voxshard", *words])
        finally:
            os._exit(127)
    os.close(program_side)
    screen, typed, end = Screen(), False, time.monotonic() + LONGEST_S
    while True:
        if not select.select([terminal], [], [], 5)[0]:
            if time.monotonic() > end:
                os.kill(child, signal.SIGKILL)
                problems.append(f"{line}: not finished after {LONGEST_S} s")
            continue
        try:
            data = os.read(terminal, 65536)
        except OSError:  # the terminal of a process that has ended
            break
        if not data:
            break
        screen.feed(data)
        step = re.search(r"train \[?[=> ]*\]? ?(\d+)/\d+", screen.line)
        if stop_at and not typed and step and int(step[1]) >= stop_at:
            typed = os.write(terminal, b"\x03") == 1
    os.close(terminal)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    code = 128 - code if code < 0 else code  # as a shell says it of a signal
    lines = screen.lines + ([(clock(), screen.line)] if screen.line else [])
    session.extend(f"{at}   {text}".rstrip() for at, text in lines)
    if code:
        session.append(f"{clock()}   (exit code {code})")
    session.append("")
    if code not in codes:
        problems.append(f"{before}{line}: exit code {code}, expected {' or '.join(map(str, codes))}")
    return screen.text(), code


def expect(text, pattern, what):
    """The match of a pattern in what was printed; without one a problem."""
    found = re.search(pattern, text, re.MULTILINE)
    if not found:
        problems.append(f"missing {what}: nothing like {pattern!r}")
    return found


def suggested(text):
    """The words of the `next:` line; none: an empty list."""
    found = re.findall(r"^next: voxshard (.*)$", text, re.MULTILINE)
    return shlex.split(found[-1]) if found else []


def with_option(words, option, value):
    """The words with this value of the option, which is added where it is not given."""
    if option not in words:
        return [*words, option, value]
    at = words.index(option)
    return words[: at + 1] + [value] + words[at + 2:]


def numbers_in(value):
    if isinstance(value, (dict, list)):
        for part in value.values() if isinstance(value, dict) else value:
            yield from numbers_in(part)
    elif isinstance(value, (int, float)):
        yield float(value)


def check_page(run):
    """Every number of results.csv is in the data of the page, every one of validations.csv in a cell of a table too."""
    page = (run / "report.html").read_text() if (run / "report.html").exists() else ""
    data = re.search(r'id="report-data">(.*?)</script>', page, re.DOTALL)
    if not data:
        return problems.append(f"{run.name}: there is no report.html with its data")
    data = json.loads(data[1])
    held, steps = set(numbers_in(data)), data["runs"][0]["steps"]
    in_cells = {float(n) for n in NUMBER_ATTRIBUTE.findall(page) if re.fullmatch(r"-?[\d.]+(e[-+]?\d+)?", n)}
    rows, missing, count = list(csv.DictReader(open(run / "results.csv"))), [], 0
    drawn = set(steps["step"])
    if len(drawn) < len(rows) / steps["every"] or steps["rows"] != len(rows):
        problems.append(f"{run.name}/report.html draws {len(drawn)} of {len(rows)} steps, which is not each {steps['every']}th")
    for row in rows:
        values = {name: float(text) for name, text in row.items()}
        wanted = {name: v for name, v in values.items() if math.isfinite(v)} if int(row["step"]) in drawn else {}
        count += len(wanted)
        missing += [f"step {row['step']}, {name}: {v}" for name, v in wanted.items() if v not in held]
    for row in csv.DictReader(open(run / "validations.csv")):
        value = float(list(row.values())[-1])
        count += 1
        if math.isfinite(value) and not (value in held and value in in_cells):
            missing.append(f"{','.join(row.values())} of validations.csv")
    if rows and f"{float(rows[-1]['loss']):.4f}" not in page:
        missing.append(f"the last loss, {rows[-1]['loss']}")
    problems.extend(f"{run.name}/report.html lacks {one}" for one in missing)
    session.append(f"{clock()} # {count} numbers of results.csv and validations.csv looked for in {run.name}/report.html, {len(missing)} missing\n")


def follow():
    """Goes along the `next:` lines; returns the last command of each name and its text."""
    play([], (0, 2))
    text, _ = play(["--help"])
    example = expect(text, r"^Example: voxshard (.*?)( &&|$)", "the example of the help")
    words, done, shown = shlex.split(example[1]) if example else [], {}, set()
    while words and tuple(words) not in shown and len(shown) < MOST_COMMANDS:
        if a.time and "--time" in words:
            words = with_option(words, "--time", a.time)
        shown.add(tuple(words))
        text, code = play(words, before="suggested: ")
        done.setdefault(words[0], (words, text))
        follower, words = FOLLOWS.get(words[0]), suggested(text)
        if follower and (not words or words[0] != follower) or code:
            problems.append(f"no `next:` line with {follower} after {text[-200:]!r}")
            break
    return done


def look(done):
    """What a user does with a finished run."""
    train, text = done["train"]
    run, pred = train[train.index("-o") + 1], done["predict"][0]
    expect(done["prepare"][1], r"a first training of about \d+ (min|s)", "how long the suggested training takes")
    classes = expect(text, r"^dice by class: (.*)$", "the score of each class")
    for name in re.findall(r"(\S+) 0\.000", classes[1]) if classes else []:
        expect(text, rf"^missed: {name}", f"the word that {name} is missed")
    for words in (["status", run], ["info", run], ["info", train[1]], ["report", run], ["report", pred[pred.index("-o") + 1], "--images", pred[2]]):
        play(words)
    check_page(Path(run))


def mistakes(done):
    train, predict = done["train"][0], done["predict"][0]
    run, option = train[train.index("-o") + 1], next(word for word in train if word.startswith("--"))
    play(["demo"], (2,))
    text, _ = play([word.replace(option, option[:3] + option[4:]) for word in train], (2,))
    expect(text, rf"did you mean {option}\?", f"the right name of a misspelt {option}")
    text, _ = play(["p" + predict[0][2:], *predict[1:]], (2,))
    expect(text, r"did you mean predict\?", "the right name of a misspelt predict")
    for words in (["prepare", "nowhere", "-o", "work2"], ["train", "nowhere", "-o", "run2"], ["predict", run, "nowhere", "-o", "found"],
                  ["predict", "nowhere", *predict[2:]], ["evaluate", "nowhere", done["evaluate"][0][2]], ["status", "nowhere"],
                  ["info", "nowhere"], ["report", "nowhere"]):
        expect(play(words, (2, 3))[0], "nowhere", "the name of a folder that is missing")
    text, _ = play(train, (2,))
    expect(text, "--resume", "how the run in that folder goes on"), expect(text, "--restart", "how it is thrown away")
    second, budget, said = with_option(train, "-o", "second"), 50, ""
    for _ in range(MOST_COMMANDS):
        text, code = play(with_option(second, "--host-memory", f"{budget}MiB"), (7, 130), stop_at=1)
        if code == 130:
            break
        if code != 7:
            return
        if said in ("to", "by"):  # "above" says that more comes on top
            problems.append(f"--host-memory {budget}MiB is refused, though the refusal before said that this would do")
        value = expect(text, r"(?i)raise --host-memory (above|to|by) (\d+)MiB", "an option and a value that would do")
        if not value:
            return
        said, budget = value[1], int(value[2]) + (budget if value[1] == "by" else 0)
    expect(text, "predict works now", "the word that `predict` works after an interruption")
    resume = suggested(text)
    status = suggested(play(["status", "second"])[0])
    for words in (resume, status):
        if words[:1] != ["train"] or "--resume" not in words:
            problems.append(f"after an interruption the next command is {words}, which resumes nothing")
            return
    play(["predict", "second", predict[2], "-o", "found2"], before="said to work: ")
    play(resume, before="suggested: ")
    expect(play(["status", "second"])[0], "finished", "the end of the resumed run")
    check_page(Path("second"))
    play(["report", run, "second", "-o", "both.html"])


voxshard, output = str(Path(a.voxshard).resolve(strict=True)), Path(a.output).resolve()
with tempfile.TemporaryDirectory(prefix="first_day_") as temporary:
    folder = Path(a.folder or temporary).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.iterdir()):
        sys.exit(f"{folder} is not empty")
    os.chdir(folder)
    session.append(f"A terminal of {COLUMNS} columns; ~/first_day stands for the folder, which was empty.\n")
    done = follow()
    if lacking := {*FOLLOWS, "evaluate"} - set(done):
        problems.append(f"the `next:` lines never come to {', '.join(sorted(lacking))}")
    else:
        look(done)
        mistakes(done)
    os.chdir("/")
    output.write_text("\n".join(session).replace(str(folder), "~/first_day") + "\n")
print(f"{len(session)} lines in {output}")
print(*(f"problem: {one}" for one in problems), sep="\n", end="\n" if problems else "")
sys.exit(1 if problems else 0)

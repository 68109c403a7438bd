"""The two ends of the loop with a PACS, by DCMTK's tools; `voxshard predict --watch --outbox` stands between them.

    python3 loop.py receive rules.toml INBOX                         # becomes storescp: a folder for each study
    python3 loop.py send rules.toml OUTBOX [--once | --every 30]     # dcmsend, until all is stored

An item is a folder of DICOM objects in OUTBOX, which predict places there whole. It moves to OUTBOX/sent once the PACS has stored
every object of it: dcmsend also exits with 0 where the PACS refused one, so its report is read. What fails stays and is tried
again, after waits that grow to ten minutes. Killed at any moment it sends at most the same object, with the same UID, again. Lines
on standard error hold names of items and codes, nothing of a header. Needs Python 3.11, which has tomllib, and no other package.

The link is not encrypted, and storescp takes from whoever reaches its port: keep it to the loopback, behind a firewall or in a
tunnel. Exit codes: 0 all is sent, or SIGTERM; 1 items are left (--once); 2 words or rules that cannot be, or a tool is missing;
6 the inbox cannot be made, the outbox cannot be opened, or another sender is at work in it. `receive` else ends with those of
storescp.
"""
import argparse
import fcntl
import hashlib
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time
import tomllib

MOST_WAIT_S = 600
CLEANING_S = 3600  # between two looks at what was sent long ago
DAY_S = 86400
STUDY_PAUSE_S = 20  # after which storescp looks again whether the folder of a study is there
MOST_DAYS = 36500
KEYS = {"receive": ("aetitle", "port", "keep_days"), "send": ("aetitle", "host", "port")}  # predict reads [studies]
# Success, and warnings: stored. 0x0111, duplicate SOP instance: some PACS answer so when an object is sent again; it is there,
# because UIDs are made of what an object is made of.
STORED = re.compile(r"^DIMSE Status\s*: 0x(?:0000|0111|b[0-9a-f]{3})\b", re.MULTILINE)


def say(text):
    print(text, file=sys.stderr, flush=True)


def is_text(value, pattern):
    return isinstance(value, str) and re.fullmatch(pattern, value) is not None


def read_rules(path, tables):
    """Returns these tables of the file. Errors: SystemExit with 2 for a value that cannot be, and for a table or key that is unknown:
    `voxshard predict --rules` refuses the same."""
    try:
        with open(path, "rb") as file:
            rules = tomllib.load(file)
    except (OSError, ValueError) as error:  # no TOML, no UTF-8
        refuse(f"the rules cannot be read: {error}")
    for table in rules:
        if table not in ("studies", *KEYS):
            refuse(f"the rules have the unknown table or key {table!a}; expected studies, {', '.join(KEYS)}")
    for table in tables:
        values = rules.get(table, {} if table == "receive" else None)
        if not isinstance(values, dict):
            refuse(f"the rules lack [{table}]")
        for key in values:
            if key not in KEYS[table]:
                refuse(f"[{table}] {ascii(key)[1:-1]} is an unknown key; expected {', '.join(KEYS[table])}")
        if table == "receive":
            rules[table] = values = {"aetitle": "VOXSHARD", "port": 11112, "keep_days": 0} | values
        if not is_text(values.get("aetitle"), r"[!-\[\]-~](?:[ -\[\]-~]{0,14}[!-\[\]-~])?"):
            refuse(f"[{table}] aetitle is no title: 1 to 16 printable ASCII characters, no backslash, no blank at either end")
        if type(values.get("port")) is not int or not 0 < values["port"] < 65536:
            refuse(f"[{table}] port is no port")
    if "send" in tables and not is_text(rules["send"].get("host"), r"[A-Za-z0-9:][A-Za-z0-9.:-]{0,63}"):
        refuse("[send] host is no name or address")
    keep_days = rules["receive"]["keep_days"]
    if type(keep_days) not in (int, float) or not 0 <= keep_days <= MOST_DAYS:
        refuse(f"[receive] keep_days is no number of 0 to {MOST_DAYS} days")
    return rules


def refuse(text):
    print(f"loop.py: {text}", file=sys.stderr)
    sys.exit(2)


def receive(rules, inbox):
    """Becomes storescp, which writes INBOX/study_UID/FILE in any transfer syntax. It is quiet: its messages name UIDs; who sends
    is told what was not stored. It remembers the study that came last, and makes no folder for more of it: predict has moved that
    folder away, and storescp would refuse what comes late, or again. So each association has a process of its own, which also
    forgets the study after a pause: a shorter one than that after which predict takes a study (--quiet-for 60)."""
    own = rules["receive"]
    try:
        os.makedirs(inbox, exist_ok=True)
    except OSError as error:
        print(f"loop.py: the inbox cannot be made: errno {error.errno}", file=sys.stderr)
        sys.exit(6)
    os.execvp("storescp", ["storescp", "--quiet", "--fork", "-aet", own["aetitle"], "+xa", "-od", inbox,
                           "--sort-on-study-uid", "study", "-tos", str(STUDY_PAUSE_S), "-ta", "30", "-td", "120",
                           str(own["port"])])


def objects_of(item):
    return sorted(path for path in item.iterdir() if path.suffix == ".dcm" and path.is_file() and not path.name.startswith("."))


def sync_folder(folder):
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    except OSError:
        pass  # some file systems cannot
    finally:
        os.close(descriptor)


class Sender:
    def __init__(self, rules, outbox):
        self.peer, self.own = rules["send"], rules["receive"]
        self.outbox, self.sent = outbox, outbox / "sent"
        self.sent.mkdir(parents=True, exist_ok=True)
        self.cleaned = None  # when what was sent long ago was removed
        self.waits = {}  # by item that failed: seconds to wait, and the time before which it is not tried
        self.lock = os.open(outbox / ".sender.lock", os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o640)
        try:
            fcntl.flock(self.lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            print("loop.py: another sender is at work in this outbox", file=sys.stderr)
            sys.exit(6)
        for left in outbox.glob(".report.*"):
            left.unlink(missing_ok=True)

    def items(self):
        return sorted(path for path in self.outbox.iterdir() if path.is_dir() and not path.is_symlink()
                      and not path.name.startswith(".") and path.name not in ("sent", "held"))

    def send(self, files):
        """Returns the code of what went wrong; empty when the PACS has stored all files."""
        report = self.outbox / f".report.{os.getpid()}"  # of this process: dcmsend of a killed one may still write its own
        words = ["dcmsend", "--quiet", "+crf", str(report.absolute()), "-aet", self.own["aetitle"],
                 "-aec", self.peer["aetitle"], "-to", "15", "-ta", "30", "-td", "120", self.peer["host"],
                 str(self.peer["port"])]
        report.unlink(missing_ok=True)
        done = subprocess.run(words + [str(file.absolute()) for file in files], stdin=subprocess.DEVNULL,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        if done.returncode != 0:
            return f"dcmsend {done.returncode}"
        stored = len(STORED.findall(report.read_text(errors="replace"))) if report.exists() else 0
        report.unlink(missing_ok=True)
        return "" if stored == len(files) else f"stored {stored} of {len(files)}"

    def finish(self, item, files):
        """Writes the receipt, which says that the item is stored even if the move that follows is cut short."""
        digest = hashlib.sha256()
        for file in files:
            digest.update(hashlib.sha256(file.read_bytes()).digest())
        receipt = {"time": int(time.time()), "objects": len(files), "sha256": digest.hexdigest(), "to": self.peer["aetitle"]}
        unfinished = item / ".receipt.json"
        with open(unfinished, "w", encoding="utf-8") as out:
            json.dump(receipt, out)
            out.write("\n")
            out.flush()
            os.fsync(out.fileno())
        unfinished.rename(item / "receipt.json")
        sync_folder(item)

    def work_on(self, item):
        """Returns the code of what went wrong; empty when the item is in "sent"."""
        try:
            if not (item / "receipt.json").exists():
                files = objects_of(item)
                if not files:
                    return "no object"
                code = self.send(files)
                if code:
                    return code
                self.finish(item, files)
                say(f"{item.name}: sent {len(files)}")
            item.rename(self.sent / item.name)
            sync_folder(self.sent)
            return ""
        except OSError as error:  # a full disk, an outbox that cannot be written
            return f"errno {error.errno}"

    def once(self):
        """Tries each item whose wait is over, in the order of names. Returns the number of those that are left."""
        left = 0
        for item in self.items():
            wait, not_before = self.waits.get(item.name, (0, 0))
            if time.monotonic() < not_before:
                left += 1
                continue
            code = self.work_on(item)
            if code:
                left += 1
                wait = min(MOST_WAIT_S, 2 * wait if wait else self.every)
                self.waits[item.name] = (wait, time.monotonic() + wait)
                say(f"{item.name}: not sent: {code}; again in {wait:g} s")
            else:
                self.waits.pop(item.name, None)
        return left

    def forget_old(self):
        """Removes the objects of items that were sent keep_days ago, 0: never; their receipts stay, so that nothing is sent twice."""
        if not self.own["keep_days"] or self.cleaned is not None and time.monotonic() < self.cleaned + CLEANING_S:
            return
        self.cleaned = time.monotonic()
        for receipt in sorted(self.sent.glob("*/receipt.json")):
            try:
                age_s = time.time() - json.loads(receipt.read_text(encoding="utf-8"))["time"]
                if age_s > self.own["keep_days"] * DAY_S:
                    for file in objects_of(receipt.parent):
                        file.unlink()
            except (OSError, ValueError, KeyError, TypeError):
                say(f"{receipt.parent.name}: its receipt or objects cannot be read or removed")

    def run(self, once, every):
        self.every = every
        while True:
            try:
                left = self.once()
                self.forget_old()
            except OSError as error:
                left = 1
                say(f"the outbox cannot be read: errno {error.errno}")
            if once:
                return 1 if left else 0
            time.sleep(every)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    receiving = commands.add_parser("receive", help="become storescp, which writes what it receives into INBOX")
    receiving.add_argument("rules"), receiving.add_argument("inbox")
    sending = commands.add_parser("send", help="send the items of OUTBOX by dcmsend")
    sending.add_argument("rules"), sending.add_argument("outbox", type=pathlib.Path)
    how = sending.add_mutually_exclusive_group()
    how.add_argument("--once", action="store_true", help="try each item once; exit 1: some are left")
    how.add_argument("--every", type=float, default=30, metavar="SECONDS", help="look again after so many seconds")
    given = parser.parse_args()
    rules = read_rules(given.rules, ("receive",) if given.command == "receive" else ("receive", "send"))
    tool = "storescp" if given.command == "receive" else "dcmsend"
    if shutil.which(tool) is None:
        refuse(f"{tool} is missing (Debian: dcmtk)")
    if given.command == "receive":
        receive(rules, given.inbox)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))  # dcmsend ends with it; its item stays
    try:
        sys.exit(Sender(rules, given.outbox).run(given.once, max(0.1, given.every)))
    except OSError as error:
        print(f"loop.py: the outbox cannot be opened: errno {error.errno}", file=sys.stderr)
        sys.exit(6)


if __name__ == "__main__":
    main()

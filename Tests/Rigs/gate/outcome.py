"""What a part's output says, held against what a complete run makes."""
import collections
import dataclasses
import itertools
import re

MARK = re.compile(r"^([✓✗]) (?:([a-z]+): )?")
MIXED = re.compile(r"(?<=\S)([✓✗]) ([a-z]+): ")
HEADING = re.compile(r"^== ([a-z]+), systemd ")
RUN = re.compile(r"^[✔✘] Test run with (\d+) tests? .*?(passed|failed)")
SKIPPED_TEST = re.compile(r"^➜ (?:Test|Suite) (.*?) (?:was )?skipped:? *\"?(.*?)\"?$")
FAILED_TEST = re.compile(r"^✘ (?:Test|Suite) (.*?) (?:failed|recorded an issue)")


class Expected:
    """How many checks each group makes at least: lines of `part/group number` or `part number`."""

    def __init__(self, path):
        self.path, self.counts = path, {}
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            words = line.split("#")[0].split()
            if not words:
                continue
            if len(words) != 2 or not words[1].isdigit():
                raise SystemExit(f"{path}:{number}: expected `part/group number`, found: {line}")
            self.counts[words[0]] = int(words[1])

    def record(self, outcomes):
        """Writes what these parts made; what others are expected to make stays, and so does what a part of which something was
        skipped is expected to make."""
        for one in outcomes:
            one.failed = [line for line in one.failed if "complete run makes" not in line and self.path.name not in line]
            if one.failed or one.skipped:  # no complete run
                continue
            for key in [key for key in self.counts if key.split("/")[0] == one.name]:
                del self.counts[key]
            self.counts.update(one.counts)
        heading = [line for line in self.path.read_text(encoding="utf-8").splitlines() if line.startswith("#")]
        self.path.write_text("\n".join(heading + [f"{key} {count}" for key, count in sorted(self.counts.items())]) + "\n",
                             encoding="utf-8")

    def of(self, part):
        return {key: count for key, count in self.counts.items() if key.split("/")[0] == part}


@dataclasses.dataclass
class Outcome:
    name: str
    seconds: float
    counts: dict
    passed: int
    skipped: list
    failed: list

    @staticmethod
    def of(part, result, expected):
        counts, failed, skipped = collections.Counter(), [], []
        needed = expected.of(part.name)
        if part.reads == "marks":
            _read_marks(part.name, result.lines, counts, failed)
        elif part.reads == "swift":
            _read_swift(part.name, result.lines, counts, failed, skipped)
        # What is added to `failed` below is about the part as a whole, and is not a check that it made.
        passed = max(0, sum(counts.values()) - len(failed))
        skipped += [line[len("skipped: "):] for line in result.lines if line.startswith("skipped: ")]
        if result.status == 77:
            skipped = skipped or [result.reason or "it says no reason"]
        elif result.status != 0:
            failed.append(result.reason or f"ended with status {result.status}")
        if result.status != 77 and part.reads:
            for key, count in needed.items():
                if counts[key] < count and result.status is not None:
                    # Nobody counts how many checks one that was skipped stands for: the difference is reported.
                    (skipped if skipped else failed).append(f"{key} made {counts[key]} checks, and a complete run makes {count}")
            for key in sorted(set(counts) - set(needed)):
                failed.append(f"{key} is not in {expected.path.name}: nobody would miss it")
        return Outcome(part.name, result.seconds, dict(counts), passed, skipped, failed)


def _read_marks(part, lines, counts, failed):
    heading = None
    for index, line in enumerate(lines):
        found = HEADING.match(line)
        if found:
            heading = found[1]
        found = MARK.match(line)
        if found:
            group = heading or found[2] or "all"
            counts[f"{part}/{group}"] += 1
            if found[1] == "✗":
                failed.append(line[2:] + _evidence(lines[index + 1:index + 4]))
            # Lines of two processes that wrote at once.
            for other in MIXED.findall(line[2:]):
                counts[f"{part}/{other[1]}"] += 1
                if other[0] == "✗":
                    failed.append(line)


def _evidence(lines):
    """What a failed check says below its line, so that a summary alone shows enough to begin with."""
    reported = itertools.takewhile(lambda line: line.startswith("      "), lines)
    text = "; ".join(line.strip() for line in reported)
    return f": {text[:300]}" if text else ""


def _read_swift(part, lines, counts, failed, skipped):
    for line in lines:
        found = RUN.match(line)
        if found:
            counts[part] += int(found[1])
            continue
        found = SKIPPED_TEST.match(line)
        if found:
            skipped.append(f"{found[1]}: {found[2]}" if found[2] else found[1])
            continue
        found = FAILED_TEST.match(line)
        if found and "Suite" not in line[:8] and found[1] not in failed:
            failed.append(found[1])


def summary(outcomes, strict, seconds):
    """The table that everything ends with, what was skipped, what failed; and whether that is a success."""
    rows = [("part", "checks", "passed", "skipped", "failed", "time")]
    total = collections.Counter()
    for one in outcomes:
        checks = sum(one.counts.values())
        total.update(passed=one.passed, skipped=len(one.skipped), failed=len(one.failed))
        rows.append((one.name, *(str(number) if number else "·" for number in (
            checks, one.passed, len(one.skipped), len(one.failed))), f"{int(one.seconds) // 60}:{int(one.seconds) % 60:02}"))
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = ["", *("  ".join(
        word.ljust(width) if column == 0 else word.rjust(width) for column, (word, width) in enumerate(zip(row, widths)))
        for row in rows)]
    for title, attribute in (("Skipped, and why", "skipped"), ("Failed", "failed")):
        reported = [f"  {one.name}: {item}" for one in outcomes for item in getattr(one, attribute)]
        if reported:
            lines += ["", f"{title}:", *reported[:200]]
            if len(reported) > 200:
                lines.append(f"  and {len(reported) - 200} more: see the logs in .build/gate")
    passed = not total["failed"] and not (strict and total["skipped"])
    if strict and total["skipped"]:
        lines += ["", "Nothing may be skipped here (--strict)."]
    lines += ["", f"{int(seconds) // 60} min {int(seconds) % 60} s: " + ("all passed" if passed else "failed"),
              f"{total['passed']} passed, {total['failed'] + (total['skipped'] if strict else 0)} failed, {total['skipped']} skipped"]
    return "\n".join(lines), passed

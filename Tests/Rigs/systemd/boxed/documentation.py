"""The commands of a page of docs/guide, as a newcomer types them."""
import os
import pathlib
import subprocess
import sys
import tempfile

from boxed.stage import configure, start

# A look at one moment of a busy machine can find a process too slow for it, and then `status` ends with 3: it is looked at again.
WRAPPER = """\
#!/bin/sh
for _ in $(seq 60); do
    "{enter}" {program} "$@"
    status=$?
    [ "$1" = status ] && [ "$status" = 3 ] || exit "$status"
    sleep 1
done
exit "$status"
"""
PROJECT = pathlib.Path(__file__).resolve().parents[4]


def run(box, checks, _seed):
    configure(box)
    start(box, checks)
    examples(box, checks, "docs/guide/box.md")
    checks.same("the box did not reboot", box.ended(), "")


def examples(box, checks, name):
    # The page is for somebody on the box: its commands are run there, whatever they are.
    with tempfile.TemporaryDirectory() as directory:
        for program in ("watchboxctl", "systemctl", "tee"):
            wrapper = pathlib.Path(directory, program)
            wrapper.write_text(WRAPPER.format(enter=box.enter, program=program))
            wrapper.chmod(0o755)
        environment = {**os.environ, "PATH": f"{directory}:{os.environ['PATH']}"}
        page = PROJECT / name
        done = subprocess.run(
            [sys.executable, PROJECT / "Tests/Rigs/docs/examples", page], env=environment, cwd=directory, text=True,
            capture_output=True)
    checks.expect(
        f"every example of {name} ends as it says: {done.stdout.strip()[-80:]}",
        done.returncode == 0 and "examples ran" in done.stdout and not done.stdout.startswith("0 "),
        done.stdout + done.stderr)

"""What the boot loader does with a system that it cannot read; no kernel has to come up for that."""
import re

from boxed.checks import Not


def run(box, checks):
    machine = box.flash()
    machine.copy("boot_a", "boot_b")
    machine.environment(B_OK="1")
    machine.wipe("boot_a")
    machine.start()

    def tried():
        return re.findall(r"WatchBox: system ([AB])", machine.said(lines=None))
    checks.until("a system whose kernel cannot be read is tried three times, then the other one is, without anybody",
                 lambda: "B" in tried() or Not(f"{tried()}: {machine.said()}"), seconds=600, pause=1)
    checks.same("in that order", "".join(tried()), "AAAB")
    counted = machine.boot_state()
    checks.same("and each is counted", (counted["A_TRY"], counted["B_TRY"]), ("3", "1"))
    # What it has is no system that starts.
    machine.cut()
    box.machine, box.adopted = None, False

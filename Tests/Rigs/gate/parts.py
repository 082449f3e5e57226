"""What there is to run, in the order in which it is reported."""
import dataclasses
import os


@dataclasses.dataclass(frozen=True)
class Part:
    name: str
    command: list
    # Parts that must have passed.
    after: tuple = ()
    # Takes none of the LANES, and of the CPU what its nice value gives it beside the others: 5 is a third of a share.
    nice: int = 0
    # Seconds without a line, for what hangs: how long all of it takes says how busy the machine is.
    limit: int = 1800
    # Seconds in all, for what goes on for ever and prints.
    longest: int = 7200
    # How its checks are read from its output: "marks" (✓ and ✗), "swift", or None for what checks nothing.
    reads: str | None = None
    environment: dict = dataclasses.field(default_factory=dict)


# So many parts beside each other.
LANES = 3
POLITE = 5
SOCKETS = "RelayTests|RTMPTransportTests|CameraPipelineTests|RTSPIngestTests|ONVIFClientTests|DiscoveryTests|HooksTests"
# All that `make check` leaves to `make test`.
SLOW = f"^({SOCKETS}|EndToEndTests)[.]"
# They wait more than they work, so they run beside the others of their kind.
FAULTS = "^EndToEndTests[.]EndToEndTests/(Outage|Replay|Crash)/"
# What the rigs start.
PRODUCTS = ("watchboxd", "watchboxctl", "DeviceCheck", "DiscoveryCheck")
# Debian has it for such a machine.
OLDEST = ('[ "$(id -u)" -eq 0 ] && [ "$(dpkg --print-architecture)" = amd64 ] && bwrap --bind / / true '
          '|| { echo "skipped: the oldest Swift is in a root of Debian packages for amd64, which root makes and bwrap enters"; exit 77; };')


def peers(project):
    """Third-party peers from PyPI; a test whose peer is missing says that it was skipped."""
    names = {"WATCHBOX_OTDF_PYTHON": "python-otdf", "WATCHBOX_FFMPEG7": "ffmpeg7", "WATCHBOX_ONVIF_PYTHON": "python-onvif"}
    found = {variable: project / ".venv/bin" / name for variable, name in names.items()}
    return {variable: str(path) for variable, path in found.items() if os.access(path, os.X_OK)}


def parts(project, swift):
    rigs = project / "Tests/Rigs"
    # Optimised as what users run; testable, so that the tests see what is internal, and with a runtime of its own, so beside what `make
    # release` builds. Without the check, a target may import whatever has been built before it. The index is a tenth of
    # the build, but SwiftPM finds the tests in it.
    tree = project / ".build/tested"
    programs = str(tree / "release")
    image = str(project / ".build/tested-image")
    build = [swift, "build", "-c", "release", "-Xswiftc", "-enable-testing", "--scratch-path", str(tree),
             "--explicit-target-dependency-import-check", "error"]
    shell = ["bash", "-euc"]

    def tests(name, *filters, **more):
        # The bundle itself: `swift test` would wait for every other use of .build.
        return Part(name, [f"{programs}/watchboxPackageTests.xctest", "--testing-library", "swift-testing", *filters], ("tests",),
                    reads="swift", environment={**peers(project), "SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH": "8"}, **more)
    return [
        Part("gate", [f"{rigs}/gate/check"], reads="marks", nice=POLITE),
        Part("sbom", [f"{rigs}/image/check-sbom"], reads="marks", nice=POLITE),
        Part("slots", [f"{rigs}/image/check-slots"], reads="marks", nice=POLITE),
        Part("style", ["make", "--no-print-directory", "lint", f"SWIFT={swift}"], nice=POLITE),
        Part("programs", shell + [" && ".join(" ".join(build + ["--product", name]) for name in PRODUCTS)]),
        Part("trees", shell + [f"{rigs}/systemd/make-rootfs bookworm && {rigs}/systemd/make-rootfs trixie units"], nice=POLITE),
        Part("guest", [f"{rigs}/vm/make-guest"], nice=POLITE),
        Part("libcamera", ["make", "--no-print-directory", "libcamera"], nice=POLITE),
        Part("tests", build + ["--build-tests"], ("programs",), nice=POLITE),
        Part("image", [f"{rigs}/image/make-tested", "--swift", swift, "--tree", tree, image], ("programs",), nice=POLITE),
        Part("oldest", shell + [f"{OLDEST} make --no-print-directory oldest-swift"], ("tests",), nice=POLITE),
        Part("units", [f"{rigs}/systemd/check-units"], ("trees",), reads="marks"),
        Part("boxes", [f"{rigs}/systemd/box-tests", "--programs", programs, "--optimised", "--seed", "1", "--jobs", "3"],
             ("programs", "trees"), reads="marks"),
        Part("discovery", [f"{rigs}/discovery/network-tests", "--programs", programs], ("programs",), reads="marks"),
        Part("capture", [f"{rigs}/vm/vm-tests", "--programs", programs], ("programs", "guest", "libcamera"), reads="marks"),
        Part("flashed", [f"{rigs}/image/image-tests", "--image", image, "--programs", programs, "start"], ("image",), reads="marks"),
        # The longest first; all of them wait more than they compute.
        tests("sockets", "--filter", f"^({SOCKETS})[.]"),
        tests("computation", "--skip", SLOW),
        tests("whole", "--filter", "^EndToEndTests[.]", "--skip", FAULTS),
        tests("faults", "--filter", FAULTS),
    ]


if __name__ == "__main__":
    print(SLOW)

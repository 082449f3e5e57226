"""This machine's part: relay, key access server and viewers, on loopback."""
import json
import pathlib
import subprocess
import time


class Host:
    def __init__(self, programs, directory, addresses=()):
        """With addresses the KAS speaks TLS under them: a box that is not this machine sends its token nowhere else."""
        self.addresses = addresses
        self.programs = pathlib.Path(programs)
        self.directory = pathlib.Path(directory)
        self.started = []
        self.relay_port = self.kas_port = None
        self.viewers = 0

    def start(self):
        self.relay_port = self._serve("relay", "relay", "--listen", "127.0.0.1:0", "--grace", "1")
        self.kas_port = self._serve("kas", "kas", "--state", self.directory / "kas", "--listen", "127.0.0.1:0", *self._certificate())
        self.publish_token = self._token("box", "kas.publish")
        self.view_token = self._token("viewer", "kas.rewrap")

    @property
    def authority(self):
        """Who vouches for the KAS: a file; None without TLS."""
        return self.directory / "kas.pem" if self.addresses else None

    @property
    def kas_url(self):
        return f"http{'s' if self.addresses else ''}://127.0.0.1:{self.kas_port}/kas"

    def _certificate(self):
        if not self.addresses:
            return []
        names = ",".join(f"IP:{address}" for address in ("127.0.0.1", *self.addresses))
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-noenc", "-days", "30",
                        "-subj", "/CN=KAS of a test", "-addext", f"subjectAltName={names}", "-keyout", self.directory / "kas.key",
                        "-out", self.authority], check=True, capture_output=True)
        return ["--tls-certificate", self.authority, "--tls-key", self.directory / "kas.key"]

    def stop(self):
        for process in reversed(self.started):
            if process.poll() is None:
                process.terminate()
        for process in self.started:
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def spawn(self, name, program, *arguments, out=subprocess.PIPE):
        with open(self.directory / f"{name}.err", "wb") as words:
            process = subprocess.Popen(
                ["setpriv", "--pdeathsig", "KILL", self.programs / program, *map(str, arguments)],
                stdin=subprocess.DEVNULL, stdout=out, stderr=words, text=True)
        self.started.append(process)
        return process

    def words(self, name):
        file = self.directory / f"{name}.err"
        return file.read_text(errors="replace").strip()[-1500:] if file.exists() else ""

    def _serve(self, name, *arguments):
        process = self.spawn(name, "watchboxd", *arguments, "--json")
        # Its first line says the port; it ends, or says it.
        for line in process.stdout:
            document = json.loads(line)
            if "port" in document:
                return document["port"]
        raise OSError(f"{name} did not start: {self.words(name)}")

    def _token(self, subject, scope):
        made = subprocess.run(
            [self.programs / "watchboxctl", "kas", "token", "--state", self.directory / "kas", "--subject", subject,
             "--scope", scope, "--stream", "*"], capture_output=True, text=True, timeout=120)
        if made.returncode:
            raise OSError(f"no token for the {subject}: {made.stderr}")
        return made.stdout.strip()

    def viewer(self, stream, *options):
        return Viewer(self, stream, *options)


class Viewer:
    """`watchboxctl play`, as somebody on this machine would start it."""

    def __init__(self, host, stream, *options):
        host.viewers += 1
        self.host, self.name = host, f"viewer-{host.viewers}"
        self.log = host.directory / f"{self.name}.frames"
        self.out = host.directory / f"{self.name}.out"
        token = host.directory / f"{self.name}.token"
        token.touch(0o600)
        token.write_text(host.view_token + "\n")
        with open(self.out, "wb") as out:
            self.process = host.spawn(
                self.name, "watchboxctl", "play", f"rtmp://127.0.0.1:{host.relay_port}/live/{stream}",
                "--kas", host.kas_url, "--kas-token-file", token, "--json",
                *(["--kas-ca", host.authority] if host.authority else []),
                "--frame-log", self.log, *options, out=out)

    def frames(self):
        """Frames opened so far; each is as the camera sealed it, or it would not have opened."""
        lines = self.log.read_text().split("\n")[:-1] if self.log.exists() else []
        return [frame for frame in map(json.loads, lines) if frame["track"] == "video"]

    def pictures(self, count):
        from boxed.checks import Not
        found = len(self.frames())
        return found if found >= count else Not(f"{found} frames of {count}: {self.words()}")

    def words(self):
        return f"{self.out.read_text().strip()[-300:]} / {self.host.words(self.name)[-300:]}"

    def gap(self, since):
        """The longest time without a frame since an instant (CLOCK_MONOTONIC), in seconds, the time until now included."""
        instants = [since] + [frame["instant"] / 1e9 for frame in self.frames() if frame["instant"] / 1e9 > since]
        instants.append(time.monotonic())
        return max(after - before for before, after in zip(instants, instants[1:]))

    def finish(self):
        """Its statistics."""
        if self.process.poll() is None:
            self.process.send_signal(2)
        self.process.wait(60)
        for line in reversed(self.out.read_text().splitlines()):
            document = json.loads(line)
            if document.get("event") == "final":
                return document["statistics"]
        raise ValueError(f"the viewer gave no statistics: {self.words()}")

    def clean(self, checks, what):
        """It goes; none was missing, none was wrong."""
        try:
            figures = self.finish()
        except (OSError, ValueError, subprocess.TimeoutExpired) as error:
            return checks.expect(what, False, error)
        wrong = {key: figures[key] for key in
                 ("gaps", "authenticationFailed", "noKey", "replayed", "malformed", "unreadable", "reconnects")
                 if figures[key]}
        return checks.expect(what, not wrong and figures["video"]["units"] > 0, f"{wrong} of {figures}")

import ControlAPI
import Settings
import Testing

@testable import BoxView

/// What people see, letter by letter. When one of these changes on purpose, look at the screen before the golden.
struct GoldenTests {
    @Test func `status at 80 columns`() {
        #expect(
            text(StatusView.lines(Samples.porch, style: Style(width: 80))) == #"""
                ● porch-box  DEGRADED: 1 of 3 cameras is not publishing  WatchBox 0.2.0
                  Up 12d 4h · clock synchronised · generation 27 · recovered 2x today

                  CAMERA     NAME        SOURCE      RATE      BITS      ACK  STATE
                  front      Front door  test:   25.0 fps  2.1 Mb/s    0.4 s  ● live
                  garage                 test:   25.0 fps  2.1 Mb/s    0.4 s  ● live
                  back-door  裏口 🚪     test:          -         -  14m 02s  ✗ failed WB-2107 …

                  Relay   main rtmps://live.example.net/live
                  KAS     https://kas.example.net/kas
                  Keys    NanoTDF AES-256-GCM; secrets are protected by systemd-host-key
                  Health  1 ok, 1 warn, 1 fail, 1 unknown
                  ✗ storage-read-only  /dev/mmcblk0p2 at /data is read-only  WB-3003
                  ! heat  78.0 °C in cpu-thermal  WB-6002
                  Next: watchboxctl camera password back-door  3 cameras
                """#)
    }

    @Test func `status at 120 columns`() {
        #expect(
            text(StatusView.lines(Samples.porch, style: Style(width: 120))) == #"""
                ● porch-box  DEGRADED: 1 of 3 cameras is not publishing  WatchBox 0.2.0
                  Up 12d 4h · clock synchronised · generation 27 · recovered 2x today

                  CAMERA     NAME        SOURCE      RATE      BITS      ACK  STATE
                  front      Front door  test:   25.0 fps  2.1 Mb/s    0.4 s  ● live
                  garage                 test:   25.0 fps  2.1 Mb/s    0.4 s  ● live
                  back-door  裏口 🚪     test:          -         -  14m 02s  ✗ failed WB-2107 the camera refused the password

                  Relay   main rtmps://live.example.net/live
                  KAS     https://kas.example.net/kas
                  Keys    NanoTDF AES-256-GCM; secrets are protected by systemd-host-key
                  Health  1 ok, 1 warn, 1 fail, 1 unknown
                  ✗ storage-read-only  /dev/mmcblk0p2 at /data is read-only  WB-3003
                  ! heat  78.0 °C in cpu-thermal  WB-6002
                  Next: watchboxctl camera password back-door  3 cameras
                """#)
    }

    @Test func `cameras at 80 columns`() {
        let document = CameraListDocument(cameras: Samples.porch.cameras)
        #expect(
            text(CameraView.table(document).lines(Style(width: 80))) == #"""
                ID         NAME        SOURCE  MAKER/MOD…  RELAY  DEFINED IN  STATE
                front      Front door  test:   -           main   conf.d/10…  ● live
                garage     garage      test:   -           main   conf.d/10…  ● live
                back-door  裏口 🚪     test:   -           main   conf.d/10…  ✗ failed WB-2107 …
                3 cameras
                """#)
    }

    @Test func `streams at 120 columns`() {
        let document = StreamListDocument(streams: Samples.porch.cameras.map(\.stream))
        #expect(
            text(StreamView.table(document).lines(Style(width: 120))) == #"""
                STREAM           IN      SENT  DROP  QUEUE      RTT      ACK  RECONN  RESTARTS  STATE
                front      25.0 fps  2.1 Mb/s     -      -  41.2 ms    0.4 s       -         0  ● live
                garage     25.0 fps  2.1 Mb/s     -      -  41.2 ms    0.4 s       -         0  ● live
                back-door         -         -     -      -        -  14m 02s       -         3  ✗ failed WB-2107 the camera refused the…
                3 streams
                """#)
    }

    @Test func `health at 80 columns`() {
        #expect(
            text(HealthView.table(Samples.health).lines(Style(width: 80))) == #"""
                           CHECK              OBJECT  SINCE     EVIDENCE                 CODE
                ✓ ok       clock              -       41 s ago  synchronised, says the…
                ✗ fail     storage-read-only  -       41 s ago  /dev/mmcblk0p2 at /dat…  WB-3003
                ? unknown  power              -       41 s ago  this kernel does not t…
                ! warn     heat               -       41 s ago  78.0 °C in cpu-thermal   WB-6002
                4 checks; recoveries in their budgets: L1 1/6
                """#)
    }

    @Test func `health at 120 columns`() {
        #expect(
            text(HealthView.table(Samples.health).lines(Style(width: 120))) == #"""
                           CHECK              OBJECT  SINCE     EVIDENCE                                  CODE
                ✓ ok       clock              -       41 s ago  synchronised, says the kernel (adjtimex)
                ✗ fail     storage-read-only  -       41 s ago  /dev/mmcblk0p2 at /data is read-only      WB-3003
                ? unknown  power              -       41 s ago  this kernel does not tell
                ! warn     heat               -       41 s ago  78.0 °C in cpu-thermal                    WB-6002
                4 checks; recoveries in their budgets: L1 1/6
                """#)
    }

    @Test func `a Nagios plug-in says what the other commands say, acknowledgements and all`() {
        var report = Samples.health
        func nagios() -> String { "\(HealthView.nagios(report))" }
        #expect(nagios() == #"(line: "WATCHBOX CRITICAL - storage-read-only, heat", status: 2)"#)
        report.checks[1].isAcknowledged = true
        #expect(nagios() == #"(line: "WATCHBOX WARNING - heat", status: 1)"#)
        report.checks[3].isAcknowledged = true
        #expect(nagios() == #"(line: "WATCHBOX OK - 4 checks", status: 0)"#)
        #expect(text(HealthView.table(report).lines(Style(width: 120))).contains("acknowledged: 78.0 °C"))
        report.checks = report.checks.filter { $0.state == .unknown }
        #expect(nagios() == #"(line: "WATCHBOX UNKNOWN - 1 check", status: 3)"#)
    }

    @Test func `doctor at 80 columns`() {
        #expect(
            text(DoctorView.lines(Samples.doctor, style: Style(width: 80))) == #"""
                  ✓ config      3 files valid
                  ✓ generation  generation 27 runs
                  ✓ clock       set, zone UTC, no clock that runs while off
                  ✗ storage     the file system of /var/lib/watchbox is read-only (WB-3003)
                  ! secrets     encrypted by systemd, but its key is on the same card
                  ? power       not measurable on this machine
                  ✓ network     default route by eth0, 2 addresses
                1 failed, 1 warning, 1 unknown of 7.
                  Next for storage: watchboxctl explain WB-3003
                  Next for secrets: Add a TPM
                """#)
    }

    @Test func `doctor at 120 columns has two`() {
        #expect(
            text(DoctorView.lines(Samples.doctor, style: Style(width: 120))) == #"""
                  ✓ config      3 files valid                                 ✓ generation  generation 27 runs
                  ✓ clock       set, zone UTC, no clock that runs while off
                  ✗ storage     the file system of /var/lib/watchbox is read-only (WB-3003)
                  ! secrets     encrypted by systemd, but its key is on the same card
                  ? power       not measurable on this machine
                  ✓ network     default route by eth0, 2 addresses
                1 failed, 1 warning, 1 unknown of 7.
                  Next for storage: watchboxctl explain WB-3003
                  Next for secrets: Add a TPM
                """#)
    }

    @Test func `what a configuration would change`() {
        let diff = ConfigurationDiff(
            fromGeneration: 26, toGeneration: 27,
            changes: [
                ConfigurationChange(
                    object: "camera.front", kind: .changed, details: ["bitrate: 2000000 → 1000000"],
                    action: .restartCamera,
                    affects: ["front"]),
                ConfigurationChange(
                    object: "box", kind: .changed, details: ["name: \"a\" → \"b\""], action: .none, affects: []),
            ], confirmWithinSeconds: 90)
        #expect(
            text(ConfigurationView.lines(diff, style: Style(width: 80))) == #"""
                ~ camera.front  → restart-camera front
                    bitrate: 2000000 → 1000000
                ~ box  → nothing restarts
                    name: "a" → "b"
                Applied: generation 27.
                It is taken back in 90 s unless you run: watchboxctl config confirm
                """#)
    }
}

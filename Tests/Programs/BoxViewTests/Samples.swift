import ControlAPI
import ErrorCatalog

@testable import BoxView

enum Samples {
    static func stream(
        _ id: String, _ state: StreamDocument.State, reason: String? = nil, code: ErrorCode? = nil
    ) -> StreamDocument {
        let isLive = state == .live
        return StreamDocument(
            camera: id, stream: id, state: state, reason: reason, code: code, relay: "main",
            framesPerSecond: isLive ? 25 : nil, bitsPerSecond: isLive ? 2_100_000 : nil,
            acknowledgedSecondsAgo: isLive ? 0.4 : 842, roundTripMilliseconds: isLive ? 41.2 : nil,
            restarts: isLive ? 0 : 3, unit: isLive ? "active" : "failed")
    }

    static func camera(_ id: String, name: String? = nil, _ stream: StreamDocument? = nil) -> CameraDocument {
        CameraDocument(
            id: id, name: name ?? id, source: "test:", origin: "conf.d/10-cams.toml:4",
            stream: stream ?? self.stream(id, .live))
    }

    static let health = HealthReport(
        state: .fail, time: 1_790_000_041,
        checks: [
            HealthCheck(
                check: "clock", state: .ok, since: 1_790_000_000, evidence: "synchronised, says the kernel (adjtimex)"),
            HealthCheck(
                check: "storage-read-only", state: .fail, since: 1_790_000_000,
                evidence: "/dev/mmcblk0p2 at /data is read-only",
                code: .readOnly),
            HealthCheck(check: "power", state: .unknown, since: 1_790_000_000, evidence: "this kernel does not tell"),
            HealthCheck(
                check: "heat", state: .warn, since: 1_790_000_000, evidence: "78.0 °C in cpu-thermal", code: .hot),
        ],
        ladder: LadderDocument(steps: [
            .init(
                level: "L1", action: "restart the camera", used: 1, allowed: 6, windowSeconds: 3600, last: 1_790_000_030
            )
        ]), recoveries: ["L1": 1])

    static func status(_ cameras: [CameraDocument], name: String = "porch-box") -> BoxStatus {
        BoxStatus(
            name: name, version: "0.2.0", state: .degraded, reason: "1 of 3 cameras is not publishing",
            hint: "watchboxctl camera password back-door", time: 1_790_000_041, uptimeSeconds: 1_051_200,
            isClockSynchronised: true, generation: 27, cameras: cameras,
            relays: [
                RelayDocument(
                    name: "main", url: "rtmps://live.example.net/live", hasSecret: false, certificateAuthorityFile: nil,
                    profile: "keeps-metadata", origin: "watchbox.toml:3", cameras: cameras.map(\.id))
            ],
            keyAccess: KeyAccessDocument(url: "https://kas.example.net/kas", hasToken: true), health: health,
            recoveriesToday: 2, secretProtection: "systemd-host-key")
    }

    static let porch = status([
        camera("front", name: "Front door"), camera("garage"),
        camera(
            "back-door", name: "裏口 🚪",
            stream("back-door", .failed, reason: "the camera refused the password", code: .loginRefused)),
    ])

    static let doctor = DoctorReport(
        time: 1_790_000_041, version: "0.2.0", isOffline: false,
        findings: [
            DoctorFinding(check: "config", state: .ok, evidence: "3 files valid"),
            DoctorFinding(check: "generation", state: .ok, evidence: "generation 27 runs"),
            DoctorFinding(check: "clock", state: .ok, evidence: "set, zone UTC, no clock that runs while off"),
            DoctorFinding(
                check: "storage", state: .fail, evidence: "the file system of /var/lib/watchbox is read-only",
                code: .readOnly,
                hint: "Run: watchboxctl explain WB-3003"),
            DoctorFinding(
                check: "secrets", state: .warn, evidence: "encrypted by systemd, but its key is on the same card",
                hint: "Add a TPM"),
            DoctorFinding(check: "power", state: .unknown, evidence: "not measurable on this machine"),
            DoctorFinding(check: "network", state: .ok, evidence: "default route by eth0, 2 addresses"),
        ])

    /// What somebody who means harm would call a camera.
    static let hostile = "a\u{1B}[31mb\u{7}\u{202E}c\nd\te\u{9B}f\u{2066}g\u{0}h"
}

/// Lines as one string, for goldens.
func text(_ lines: [String]) -> String { lines.joined(separator: "\n") }

import ControlAPI
import ErrorCatalog
import Foundation
import Platform
import Systemd
import Testing

@testable import Doctor

struct SupportBundleTests {
    private static let secrets = [
        "HUNTER2PASSWORD", "HUNTER2TOKEN", "HUNTER2STREAMKEY", "HUNTER2QUERY", "HUNTER2JWT", "HUNTER2KEY",
    ]
    /// One of each, as programs write them by mistake.
    private static let leak = """
        rtmp://bob:HUNTER2PASSWORD@relay.example.net/live/HUNTER2STREAMKEY https://kas/x?k=HUNTER2QUERY token=HUNTER2TOKEN \
        Authorization: Bearer eyJhbGciOiJFUzI1NiJ9.HUNTER2JWT.x
        -----BEGIN PRIVATE KEY-----
        HUNTER2KEY
        -----END PRIVATE KEY-----
        """

    private func collected() async throws -> [UInt8] {
        let tree = try FixtureTree(healthyBoard)
        try tree.write("etc/os-release", "PRETTY_NAME=\"Debian token=HUNTER2TOKEN\"\n")
        try tree.write("proc/sys/kernel/osrelease", "6.12 password=HUNTER2PASSWORD\n")
        var status = DaemonCheckTests.status(streams: [.failed], problem: Self.leak, evidence: Self.leak)
        status.name = Self.leak
        let check = HealthCheck(check: "relay", state: .fail, since: 1, evidence: Self.leak, hint: Self.leak)
        let health = HealthReport(
            state: .fail, time: 1, checks: [check], ladder: LadderDocument(steps: []), recoveries: [:])
        status.health = health
        let lines = (0..<500).map { number in
            LogLine(
                time: Int64(number), unit: "watchbox-control.service", camera: nil, level: "error", code: .relayRefused,
                message: "line \(number) \(Self.leak)", cursor: "c")
        }
        let generations = GenerationListDocument(generations: [
            .init(number: 27, time: 1, isCurrent: true, cause: Self.leak, cameras: 1)
        ])
        let daemon = try CannedDaemon(
            "\(tree.root)/run/watchbox/api.sock",
            answers: [
                "/api/v1/status": JSONDocument.text(status), "/api/v1/health": JSONDocument.text(health),
                "/api/v1/version": JSONDocument.text(VersionDocument(version: Self.leak)),
                "/api/v1/config/export":
                    "version = 1\nrelay.main = { url = \"rtmp://h/live\", secret = \"HUNTER2TOKEN\" }\n# \(Self.leak)",
                "/api/v1/config/history": JSONDocument.text(generations),
                "/api/v1/logs": JSONDocument.text(LogDocument(lines: lines)),
            ])
        defer { withExtendedLifetime(daemon) {} }
        let unit = UnitState(
            name: "watchbox-control.service", load: "loaded", active: "active", sub: "running", statusText: Self.leak)
        let environment = tree.environment(isOffline: false, units: FixedUnits(states: [unit]))
        let names = ["cameras", "health", "generation", "versions"]
        var report = await CheckRunner(timeLimit: .seconds(60)).run(
            DoctorCheck.all.filter { names.contains($0.name) }, in: environment)
        report.findings.append(DoctorFinding(check: "x", state: .fail, evidence: Self.leak, hint: Self.leak))
        return try await SupportBundle.collect(report, in: environment).archive()
    }

    @Test func `secrets planted in every input are nowhere in the archive`() async throws {
        let bytes = try await collected()
        let text = String(decoding: bytes, as: UTF8.self)
        #expect(Self.secrets.filter { text.contains($0) }.isEmpty)
        // What helps is there.
        let parts = [
            "watchbox-bundle/doctor.json", "watchbox-bundle/status.json", "watchbox-bundle/health.json",
            "watchbox-bundle/config.toml",
            "watchbox-bundle/generations.json", "watchbox-bundle/units.txt", "watchbox-bundle/versions.txt",
            "watchbox-bundle/log.txt",
            "relay.example.net", "line 499", "line 0", "WB-5002", "rtmp://h/live", "\"generation\":27",
            "watchbox-control.service",
        ]
        #expect(parts.filter { !text.contains($0) }.isEmpty)
    }

    @Test func `tar reads the archive as it was meant`() async throws {
        let directory = try FixtureTree()
        let path = "\(directory.root)/box.tar"
        let long = String(repeating: "n", count: 100 - "watchbox-bundle/".utf8.count)
        let bundle = SupportBundle(
            files: [("empty.txt", ""), ("one.txt", String(repeating: "x", count: 512)), (long, "Grüße\n")],
            time: 1_790_000_000)
        try NewFile.write(try bundle.archive(), to: path)
        let tar = Process()
        tar.executableURL = URL(filePath: "/usr/bin/tar")
        tar.arguments = ["-xf", path, "-C", directory.root]
        try tar.run()
        tar.waitUntilExit()
        #expect(tar.terminationStatus == 0)
        let files = try FileManager.default.contentsOfDirectory(atPath: "\(directory.root)/watchbox-bundle").sorted()
        #expect(files == ["empty.txt", long, "one.txt"].sorted())
        let text = try String(contentsOfFile: "\(directory.root)/watchbox-bundle/\(long)", encoding: .utf8)
        #expect(text == "Grüße\n")
        let attributes = try FileManager.default.attributesOfItem(atPath: "\(directory.root)/watchbox-bundle/one.txt")
        #expect(attributes[.size] as? Int == 512)
        #expect((attributes[.posixPermissions] as? Int).map { $0 & 0o077 } == 0)
        #expect((attributes[.modificationDate] as? Date)?.timeIntervalSince1970 == 1_790_000_000)
    }

    @Test(arguments: ["", "/etc/passwd", "../x", "a/../b", "a//b", "a\u{0}b", String(repeating: "n", count: 101)])
    func `a name that could land elsewhere is refused`(name: String) {
        var archive = TapeArchive()
        #expect(throws: TapeArchive.NameError.self) { try archive.add(name, [], time: 0) }
    }

    @Test func `what cannot be had is a file that says why`() async throws {
        let tree = try FixtureTree()
        let report = DoctorReport(time: 1, version: "0.2.0", isOffline: true, findings: [])
        let offline = await SupportBundle.collect(report, in: tree.environment())
        #expect(offline.files.filter { $0.text == "not asked (--offline)\n" }.count == 5)
        let silent = tree.environment(isOffline: false, units: FixedUnits(failure: .unavailable("no bus")))
        let down = await SupportBundle.collect(report, in: silent)
        #expect(down.files.filter { $0.text.hasPrefix("not available: ") && $0.name != "log.txt" }.count == 5)
        // A journal is there or not; either way the log says something.
        #expect(down.files.allSatisfy { !$0.text.isEmpty })
        #expect(down.files.map(\.name) == offline.files.map(\.name))
    }

    @Test func `a bundle is for its owner, and never written over anything`() throws {
        let tree = try FixtureTree(["there": "mine"])
        try NewFile.write([1, 2, 3], to: "\(tree.root)/new")
        let attributes = try FileManager.default.attributesOfItem(atPath: "\(tree.root)/new")
        #expect(attributes[.posixPermissions] as? Int == 0o600 && attributes[.size] as? Int == 3)
        #expect(throws: FileFailure(call: "open", path: "\(tree.root)/there", number: EEXIST)) {
            try NewFile.write([1], to: "\(tree.root)/there")
        }
        #expect(try String(contentsOfFile: "\(tree.root)/there", encoding: .utf8) == "mine")
        // A link that somebody left in /tmp, to where root may write.
        try tree.link("trap", to: "\(tree.root)/target")
        #expect(throws: FileFailure.self) { try NewFile.write([1], to: "\(tree.root)/trap") }
        #expect(!FileManager.default.fileExists(atPath: "\(tree.root)/target"))
        #expect(throws: FileFailure.self) { try NewFile.write([1], to: "\(tree.root)/missing/x") }
    }
}

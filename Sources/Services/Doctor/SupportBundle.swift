public import ControlAPI
internal import ControlClient
internal import Platform
internal import Redaction
internal import Systemd

/// What somebody who helps needs, without a secret in it: one tar archive.
public struct SupportBundle: Sendable {
    /// Lines of the log that go in.
    public static let logLines = 500
    /// Of one file; the end of longer ones is left out.
    private static let maxBytes = 4 << 20

    /// File name and content, before redaction.
    public var files: [(name: String, text: String)]
    /// Seconds since 1970.
    public var time: Int64

    /// The archive. Every name is ours, every text goes through `Redaction`.
    public func archive() throws(TapeArchive.NameError) -> [UInt8] {
        var archive = TapeArchive()
        for file in files {
            var bytes = Array(Redaction.clean(file.text).utf8)
            if bytes.count > Self.maxBytes { bytes = bytes.prefix(Self.maxBytes) + Array("\n[cut here]\n".utf8) }
            try archive.add("watchbox-bundle/\(file.name)", bytes, time: time)
        }
        return archive.data
    }

    /// Asks for everything; what cannot be had is a file that says why.
    public static func collect(_ report: DoctorReport, in environment: Environment) async -> SupportBundle {
        let client = environment.client
        let isOffline = environment.isOffline
        func asked(_ body: () async throws(ControlClientError) -> String) async -> String {
            guard !isOffline else { return "not asked (--offline)\n" }
            do throws(ControlClientError) {
                return try await body()
            } catch {
                return "not available: \(error)\n"
            }
        }
        var files: [(name: String, text: String)] = [("doctor.json", JSONDocument.text(report) + "\n")]
        files.append(
            (
                "status.json",
                await asked { () throws(ControlClientError) in
                    JSONDocument.text(try await client.get(BoxStatus.self, APIPath.status())) + "\n"
                }
            ))
        files.append(
            (
                "health.json",
                await asked { () throws(ControlClientError) in
                    JSONDocument.text(try await client.get(HealthReport.self, APIPath.health())) + "\n"
                }
            ))
        files.append(
            (
                "config.toml",
                await asked { () throws(ControlClientError) in try await client.text(APIPath.configuration("export")) }
            ))
        files.append(
            (
                "generations.json",
                await asked { () throws(ControlClientError) in
                    JSONDocument.text(
                        try await client.get(GenerationListDocument.self, APIPath.configuration("history")))
                        + "\n"
                }
            ))
        files.append(("units.txt", await units(environment)))
        files.append(("versions.txt", await versions(environment)))
        files.append(("log.txt", await log(environment)))
        return SupportBundle(files: files, time: report.time)
    }

    private static func units(_ environment: Environment) async -> String {
        guard !environment.isOffline else { return "not asked (--offline)\n" }
        do throws(SystemdError) {
            return try await environment.units.units(matching: "watchbox*").map { unit in
                "\(unit.name) \(unit.load) \(unit.active) \(unit.sub) result=\(unit.result) restarts=\(unit.restarts) "
                    + "\(unit.statusText)\n"
            }.joined()
        } catch {
            return "not available: \(error)\n"
        }
    }

    private static func versions(_ environment: Environment) async -> String {
        var text = "watchboxctl \(environment.version)\n"
        if !environment.isOffline,
            let daemon = try? await environment.client.get(VersionDocument.self, APIPath.version())
        {
            text += "watchboxd \(daemon.version)\n"
        }
        for path in ["/proc/sys/kernel/osrelease", "/proc/device-tree/model", "/proc/uptime"] {
            if let line = SmallFile.line(environment.path(path)) { text += "\(path) \(line)\n" }
        }
        let system = (SmallFile.text(environment.path("/etc/os-release")) ?? "").split(separator: "\n")
        return text
            + system.filter { $0.hasPrefix("PRETTY_NAME=") || $0.hasPrefix("VERSION_ID=") }.map { "\($0)\n" }.joined()
    }

    /// From the daemon, else from the journal's files.
    private static func log(_ environment: Environment) async -> String {
        if !environment.isOffline,
            let document = try? await environment.client.get(
                LogDocument.self, APIPath.logs(), query: [("n", "\(logLines)")])
        {
            return document.lines.map { line in
                "\(line.time) \(line.unit ?? "-") \(line.level) \(line.code.map { "\($0) " } ?? "")\(line.message)\n"
            }.joined()
        }
        var query = JournalQuery()
        query.units = unitNames(environment)
        query.last = logLines
        do throws(SystemdError) {
            let lines = try await JournalReader.read(query).map { entry in
                "\(entry.realtimeMicroseconds) \(entry.unit ?? "-") \(entry.priority) \(entry.message)\n"
            }
            return lines.isEmpty ? "the journal has no line of WatchBox\n" : lines.joined()
        } catch {
            return "not available: \(error)\n"
        }
    }

    /// Without asking anybody: the daemons, and the cameras that control has written a file for.
    private static func unitNames(_ environment: Environment) -> [String] {
        let cameras = SmallFile.names(in: environment.path("/run/watchbox/service"))
            .filter { $0.hasPrefix("camera-") && $0.hasSuffix(".json") }
            .map { "camera@\($0.dropFirst("camera-".count).dropLast(".json".count))" }
        return (["control", "health", "relay", "kas", "hooks"] + cameras.prefix(64)).map { "watchbox-\($0).service" }
    }
}

internal import ControlAPI
internal import ControlClient
internal import ErrorCatalog
internal import Glibc
internal import Platform
internal import Systemd

extension DoctorCheck {
    static let daemonChecks: [DoctorCheck] = [
        DoctorCheck("cameras", examine: cameras),
        DoctorCheck("health", examine: health),
        DoctorCheck("api", examine: api),
        DoctorCheck(reading: "user", user),
        DoctorCheck("units", examine: units),
        DoctorCheck(reading: "sandbox", sandbox),
        DoctorCheck("journal", examine: journal),
    ]

    private static func cameras(_ context: CheckContext) async -> Finding {
        switch await context.status() {
        case .failure(let absence): return absence.finding
        case .success(let status):
            let active = status.cameras.filter(\.isActive)
            let silent = active.filter { $0.stream.state != .live }
            guard let first = silent.first else {
                return .ok(active.isEmpty ? "no camera is active" : "\(active.count) of \(active.count) live")
            }
            let why = first.stream.reason.map { ": \($0)" } ?? ""
            let others = silent.count > 1 ? ", and \(silent.count - 1) more" : ""
            let evidence = "\(first.id) is \(first.stream.state.rawValue)\(why)\(others)"
            // The catalog's text, about this camera.
            let text = first.stream.code?.entry?.hint.replacing(" ID", with: " \(first.id)")
            let hint = first.stream.code == nil ? "Run: watchboxctl logs \(first.id)" : text
            return first.stream.state == .starting
                ? .warn(evidence, first.stream.code, hint: hint) : .fail(evidence, first.stream.code, hint: hint)
        }
    }

    private static func health(_ context: CheckContext) async -> Finding {
        switch await context.status() {
        case .failure(let absence): return absence.finding
        case .success(let status):
            guard let report = status.health else {
                return .fail(
                    "the health daemon does not answer, so nothing heals this box",
                    hint: "Run: systemctl status watchbox-health")
            }
            let troubles = report.checks.filter(\.isOpen)
                .sorted { ($0.state == .fail ? 0 : 1) < ($1.state == .fail ? 0 : 1) }
            guard let first = troubles.first else {
                return .ok("\(counted(report.checks.count, "check")), none failed")
            }
            let others = troubles.count > 1 ? ", and \(troubles.count - 1) more" : ""
            let evidence = "\(first.check)\(first.object.map { " \($0)" } ?? ""): \(first.evidence)\(others)"
            let hint = first.hint ?? "Run: watchboxctl health"
            return first.state == .fail
                ? .fail(evidence, first.code, hint: hint) : .warn(evidence, first.code, hint: hint)
        }
    }

    private static func api(_ context: CheckContext) async -> Finding {
        let environment = context.environment
        let path = environment.path(environment.socketPath)
        if let finding = await OwnThread.value({ socketFinding(path, environment) }) ?? nil { return finding }
        guard !environment.isOffline else { return .ok("the socket is there; not asked (--offline)") }
        let begin = ContinuousClock.now
        do throws(ControlClientError) {
            _ = try await environment.client.get(VersionDocument.self, APIPath.version())
            return .ok("answers in \((ContinuousClock.now - begin).milliseconds.tenths) ms")
        } catch .denied(let path) {
            return .warn(
                "this user may not use \(path)", .notPermitted, hint: ControlClientError.denied(path: path).hint)
        } catch {
            return .fail("\(error)", .unreachable, hint: error.hint)
        }
    }

    /// Nil when the socket is as it should be.
    private static func socketFinding(_ path: String, _ environment: Environment) -> Finding? {
        guard let status = SmallFile.status(path) else {
            return .fail(
                "there is no socket at \(path)", .unreachable, hint: "Run: systemctl status watchbox-control.socket")
        }
        guard status.st_mode & S_IFMT == S_IFSOCK else {
            return .fail(
                "\(path) is not a socket", .unreachable,
                hint: "Remove it, then run: systemctl restart watchbox-control.socket")
        }
        // A daemon that a person started by hand has the socket for himself, which is stricter.
        guard status.st_mode & 0o002 == 0 else {
            return .fail(
                "everybody may use \(path) (mode \(String(status.st_mode & 0o777, radix: 8)))",
                hint: "Run: systemctl restart watchbox-control.socket, and look for who changed it")
        }
        return nil
    }

    private static func user(_ environment: Environment) -> Finding {
        if environment.identity.userIdentifier == 0 { return .ok("root, who may do everything") }
        let groups = SmallFile.text(environment.path("/etc/group")) ?? ""
        let line = groups.split(separator: "\n").first { $0.hasPrefix("watchbox:") }
        guard let line,
            let group = line.split(separator: ":", omittingEmptySubsequences: false).dropFirst(2).first.flatMap({
                UInt32($0)
            })
        else {
            return .warn(
                "there is no group watchbox: the units are not installed",
                hint: "Install the package, or run: make install")
        }
        return environment.identity.groupIdentifiers.contains(group)
            ? .ok("in the group watchbox")
            : .warn("not in the group watchbox, so the daemon refuses changes", .notPermitted)
    }

    private static func units(_ context: CheckContext) async -> Finding {
        guard !context.environment.isOffline else { return CheckContext.Absence.offline.finding }
        let units = context.environment.units
        do throws(SystemdError) {
            var states = try await units.units(matching: "watchbox-*.service")
            for name in ["watchbox-control.service", "watchbox-health.service"]
            where !states.contains(where: { $0.name == name }) {
                states.append(try await units.state(of: name))
            }
            return finding(of: states)
        } catch {
            return .unknown("PID 1 was not asked: \(error)")
        }
    }

    /// Runs for a moment whenever control starts.
    private static let handOver = "watchbox-hand-over.service"

    static func finding(of states: [UnitState]) -> Finding {
        let missing = states.filter { $0.load == "not-found" }.map(\.name)
        guard missing.isEmpty else {
            return .warn(
                "not installed: \(missing.joined(separator: ", "))", hint: "Install the package, or run: make install")
        }
        if let failed = states.first(where: { $0.active == "failed" }) {
            let code: ErrorCode? =
                switch failed.result {
                case "start-limit-hit": .startLimit
                case "watchdog": .watchdogAbort
                case "oom-kill": .processKilledForMemory
                default: nil
                }
            return .fail(
                "\(failed.name) failed (\(failed.result))", code, hint: "Run: journalctl -u \(failed.name) -n 50")
        }
        if let broken = states.first(where: { $0.load != "loaded" }) {
            return .fail("\(broken.name) is \(broken.load)", hint: "Run: systemctl status \(broken.name)")
        }
        let core = states.filter {
            !$0.name.contains("@") && $0.active == "inactive" && $0.name != handOver
                && !["hooks", "kas", "relay"].map { "watchbox-\($0).service" }.contains($0.name)
        }
        if let stopped = core.first {
            return .fail("\(stopped.name) does not run", hint: "Run: systemctl start watchbox.target")
        }
        let restarts = states.reduce(0) { $0 + Int($1.restarts) }
        let tail = restarts > 0 ? ", \(counted(restarts, "restart")) since they were started" : ""
        return .ok("\(counted(states.count { $0.active == "active" }, "unit")) active\(tail)")
    }

    /// What the kernel says of the processes that run, which is more than what a unit file asks for.
    private static func sandbox(_ environment: Environment) -> Finding {
        let directory = environment.path("/proc")
        var count = 0
        for name in SmallFile.names(in: directory) where UInt32(name) != nil {
            guard SmallFile.line("\(directory)/\(name)/comm") == "watchboxd",
                let text = SmallFile.text("\(directory)/\(name)/status")
            else { continue }
            count += 1
            if let weakness = weakness(text) {
                return .warn(
                    "process \(name) \(weakness)", hint: "Start it through its unit: systemctl restart watchbox.target")
            }
        }
        return count == 0
            ? .unknown("no watchboxd process is visible")
            : .ok("\(counted(count, "process", "processes")): no root, no new privileges, system calls filtered")
    }

    /// Of proc_pid_status(5); nil when there is none.
    static func weakness(_ status: String) -> String? {
        func field(_ name: String) -> [Substring] {
            let line = status.split(separator: "\n").first { $0.hasPrefix(name + ":") }
            return line?.dropFirst(name.utf8.count + 1).split(whereSeparator: \.isWhitespace) ?? []
        }
        let users = field("Uid")
        if users.count < 2 || users[1] == "0" { return "runs as root" }
        if field("NoNewPrivs").first != "1" { return "may gain privileges" }
        if field("Seccomp").first != "2" { return "may make every system call" }
        return nil
    }

    private static func journal(_ context: CheckContext) async -> Finding {
        var query = JournalQuery()
        query.last = 1
        do throws(SystemdError) {
            let entries = try await JournalReader.read(query)
            return entries.isEmpty
                ? .warn("the journal is empty", hint: "Run: systemctl status systemd-journald") : .ok("readable")
        } catch .denied {
            return .unknown(
                "this user may not read it", hint: "Run it with sudo, or: sudo adduser $USER systemd-journal")
        } catch {
            return .unknown("\(error)")
        }
    }
}

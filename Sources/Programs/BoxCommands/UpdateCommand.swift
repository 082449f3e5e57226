import ArgumentParser
import BoxReadings
import Console
import ControlAPI
import ControlClient
import Glibc
import Platform
import SystemUpdate

/// Where a flashed box keeps what both of its systems must see.
enum SharedFiles {
    static let pendingUpdate = "/data/update.json"
    /// Written and removed again, to know that it can be.
    static let probe = "/data/update.probe"
    /// What a system's settings and state belong to. Without it, the next start of that system works on a new copy.
    static func identity(of system: String) -> String { "\(slot(of: system))/identity" }
    /// What a system writes: its settings and its state.
    static func slot(of system: String) -> String { "/data/slots/\(system.lowercased())" }
}

struct UpdateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "update", abstract: "The system of a flashed box: which one runs, and another one.",
        discussion: """
            A flashed box has two systems. An update is written over the one that does not run, while cameras publish, and \
            starts with the next reboot. It is kept when the cameras that published before have published for five minutes; \
            otherwise, and after three starts in vain, the one of before runs again. The commands that change something run \
            on the box as root: over SSH, with sudo.

              watchboxctl update status
              watchboxctl update check https://example.net/watchbox.raucb
              sudo watchboxctl update install watchbox-arm64.raucb
              sudo watchboxctl update rollback
            """,
        subcommands: [
            UpdateStatusCommand.self, UpdateCheckCommand.self, UpdateInstallCommand.self, UpdateRollbackCommand.self,
            UpdateMarkGoodCommand.self, UpdateGateCommand.self,
        ])

    static func requireRoot(_ what: String, command: String) throws(CommandFailure) {
        guard geteuid() != 0 else { return }
        throw CommandFailure(
            what: what, why: "systems are changed by root alone", hint: "sudo watchboxctl update \(command)",
            status: .notPermitted)
    }
}

extension CommandFailure {
    init(_ failure: Updater.Failure, what: String) {
        self.init(what: what, why: failure.why, hint: failure.hint)
    }
}

/// Calls RAUC; what it refuses becomes what a person reads.
private func asked<Value>(
    or what: String, _ body: () async throws(Updater.Failure) -> Value
) async throws(CommandFailure) -> Value {
    do throws(Updater.Failure) { return try await body() } catch { throw CommandFailure(error, what: what) }
}

struct UpdateStatusDocument: Codable {
    var schema = "watchbox.update/1"
    var slots: SystemSlots
    /// An update that was installed and has not been judged yet.
    var pending: PendingUpdate?

    private func names(_ pending: PendingUpdate) -> String {
        pending.cameras.isEmpty ? "none" : pending.cameras.joined(separator: ", ")
    }

    var lines: [String] {
        func text(_ system: SystemSlots.System, _ what: String, otherwise: String) -> String {
            let next = slots.next == system.name ? ", next" : ""
            return "\(system.name)  \(what), \(system.version ?? "version not known"): "
                + "\(system.isGood ? "good" : otherwise)\(next)"
        }
        var lines = [text(slots.running, "running", otherwise: "not kept yet")]
        if let other = slots.other { lines.append(text(other, "other", otherwise: "empty, or not to be started")) }
        guard let pending else { return lines }
        if pending.system == slots.running.name {
            lines.append("The update from \(pending.from) is being watched; cameras that published: \(names(pending)).")
        } else if slots.next == pending.system, slots.other?.isGood == true {
            lines.append("\(pending.version) is installed, and starts with the next reboot.")
        } else {
            lines.append(
                "The update to \(pending.version) was taken back. Cameras that had to publish: \(names(pending)). "
                    + "Install it again, or another one.")
        }
        return lines
    }
}

struct UpdateStatusCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Which system runs, which is next, and whether an update is being watched.",
        discussion: "  watchboxctl update status")

    @OptionGroup var output: OutputOptions

    func run() async throws {
        try output.box.requireThisMachine()
        var slots = try await asked(or: "the systems cannot be shown") { () async throws(Updater.Failure) in
            try await Updater().systems()
        }
        slots.running.version = SystemVersion.running() ?? slots.running.version
        let pending = PendingUpdate.read(SharedFiles.pendingUpdate)
        // While it is tried, RAUC names the other one; GRUB starts this one again.
        if pending?.system == slots.running.name, !slots.running.isGood { slots.next = nil }
        let document = UpdateStatusDocument(slots: slots, pending: pending)
        output.show(document) { _ in document.lines }
    }
}

/// A bundle beside the system that runs.
struct UpdateOffer: Codable {
    enum Age: String, Codable { case newer, same, older, unknown }

    var schema = "watchbox.update-offer/1"
    var version: String
    var compatible: String
    var running: String?
    var age: Age

    init(_ bundle: Updater.Bundle, running: String?) {
        version = bundle.version
        compatible = bundle.compatible
        self.running = running
        guard let running else { age = .unknown; return }
        age =
            bundle.version == running
            ? .same : SystemVersion.isOlder(bundle.version, than: running) ? .older : .newer
    }

    var line: String {
        switch age {
        case .newer: "\(version) is newer than what runs (\(running ?? ""))."
        case .same: "\(version) is what runs."
        case .older: "\(version) is older than what runs (\(running ?? ""))."
        case .unknown: "\(version); what runs has no version."
        }
    }

    static func look(at place: String, or what: String) async throws(CommandFailure) -> UpdateOffer {
        let bundle = try await asked(or: what) { () async throws(Updater.Failure) in try await Updater().bundle(place) }
        return UpdateOffer(bundle, running: SystemVersion.running())
    }
}

struct UpdateCheckCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check", abstract: "Checks a bundle's signature, and says whether it is newer. Changes nothing.",
        discussion: "  watchboxctl update check https://example.net/watchbox.raucb")

    @Argument(help: "File, or https:// address.", completion: .file(extensions: ["raucb"]))
    var bundle: String

    @OptionGroup var output: OutputOptions

    func run() async throws {
        try output.box.requireThisMachine()
        let offer = try await UpdateOffer.look(at: bundle, or: "\(bundle) is no update for this box")
        output.report(offer.line, offer)
    }
}

struct UpdateInstallCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "install", abstract: "Writes a bundle over the system that does not run; cameras go on meanwhile.",
        discussion: "  sudo watchboxctl update install watchbox-arm64.raucb --reboot")

    enum Risk: String, CaseIterable, ExpressibleByArgument {
        /// An older system may have faults that are known, and may not read what a newer one has written.
        case downgrade
    }

    @Argument(help: "File, or https:// address that is read in pieces.", completion: .file(extensions: ["raucb"]))
    var bundle: String

    @Option(help: "downgrade: install an older one than what runs.")
    var acceptRisk: Risk?

    @Flag(help: "Reboot into it at once: cameras are away for the time of a start.")
    var reboot = false

    @OptionGroup var output: OutputOptions

    func run() async throws {
        try output.box.requireThisMachine()
        try UpdateCommand.requireRoot("nothing was installed", command: "install \(bundle)")
        let offer = try await UpdateOffer.look(at: bundle, or: "nothing was installed")
        if offer.age == .older, acceptRisk != .downgrade {
            throw CommandFailure(
                what: "nothing was installed", why: offer.line, hint: "add --accept-risk downgrade if that is meant",
                status: .conflict)
        }
        let slots = try await asked(or: "nothing was installed") { () async throws(Updater.Failure) in
            try await Updater().systems()
        }
        guard let other = slots.other else {
            throw CommandFailure(
                what: "nothing was installed", why: "this box has one system only", hint: "watchboxctl update status")
        }
        // The other one is what this one would fall back to.
        guard slots.running.isGood else {
            throw CommandFailure(
                what: "nothing was installed",
                why: "the running system has not been kept yet, and the other one is what it falls back to",
                hint: "wait until it is: watchboxctl update status; or keep it: watchboxctl update mark-good",
                status: .conflict)
        }
        try requireRoom(for: slots.running.name)
        let before = PendingUpdate.read(SharedFiles.pendingUpdate)
        // Before the bundle: a power cut after it must not start a system that nobody watches.
        let pending = PendingUpdate(
            version: offer.version, system: other.name, from: offer.running ?? "", cameras: try await publishing(),
            installed: Clocks.wallSeconds)
        let identity = try? SmallFile.whole(SharedFiles.identity(of: other.name), limit: 4096)
        do {
            try pending.write(SharedFiles.pendingUpdate)
            try DurableFile.remove(SharedFiles.identity(of: other.name))
        } catch {
            throw CommandFailure(what: "nothing was installed", why: "\(error)", hint: "watchboxctl doctor")
        }
        do throws(CommandFailure) {
            try await asked(or: "the update was not installed") { () async throws(Updater.Failure) in
                try await Updater().install(bundle)
            }
        } catch {
            await forget(pending, before, other.name, identity)
            throw error
        }
        let installed = try await asked(or: "the update is installed, and not checked") {
            () async throws(Updater.Failure) in try await Updater().systems()
        }
        // A server may show one bundle and hand out another.
        if let version = installed.other?.version, version != offer.version {
            try await asked(or: "another update was installed than was looked at") {
                () async throws(Updater.Failure) in try await Updater().activateRunning()
            }
            await forget(pending, before, other.name)
            throw CommandFailure(
                what: "the update does not start", why: "\(bundle) was \(offer.version), and then \(version)",
                hint: "fetch it first, and install the file", status: .conflict)
        }
        if reboot {
            output.report("\(offer.version) is installed. The box reboots into it.", offer)
            try Reboot.now()
        } else {
            output.report(
                "\(offer.version) is installed, and starts with the next reboot: sudo systemctl reboot", offer)
        }
    }

    /// - Parameter system: the running one, of whose settings and state the other one begins with a copy.
    private func requireRoom(for system: String) throws(CommandFailure) {
        let room: StateRoom
        do throws(FileFailure) { room = try StateRoom.look(at: SharedFiles.slot(of: system)) } catch {
            throw CommandFailure(what: "nothing was installed", why: "\(error)", hint: "watchboxctl doctor")
        }
        guard !room.isEnough else { return }
        throw CommandFailure(
            what: "nothing was installed",
            why: "the new system begins with a copy of this one's settings and state, and the card has no room for it",
            hint: "free \(room.missingMegabytes) MB on /data; old bundles may be in /var/tmp. "
                + "Look: sudo du -xh -d 5 /data")
    }

    /// After a failure. RAUC may go on without who asked it: what it will start stays watched.
    ///
    /// - Parameter identity: of the system that was to be replaced; nil: it was.
    private func forget(
        _ pending: PendingUpdate, _ before: PendingUpdate?, _ system: String, _ identity: [UInt8]? = nil
    ) async {
        let slots = try? await Updater().systems()
        guard slots?.next != system else { return }
        // RAUC calls one that it writes over bad first: this one is whole, and finds its own state when it starts again.
        if let identity, slots?.other?.isGood == true {
            try? DurableFile.replace(SharedFiles.identity(of: system), with: identity, mode: 0o644)
        }
        if let before, before.system != system {
            try? before.write(SharedFiles.pendingUpdate)
        } else {
            try? PendingUpdate.remove(SharedFiles.pendingUpdate)
        }
    }

    private func publishing() async throws -> [String] {
        let cameras = try await output.client.get(
            CameraListDocument.self, APIPath.cameras(),
            or: "nothing was installed: which cameras publish is not known, so the new system could not be judged")
        return cameras.cameras.filter { $0.stream.state == .live }.map(\.id)
    }
}

enum Reboot {
    static func now() throws(CommandFailure) {
        let outcome = try? ToolRun.run("systemctl", ["--no-block", "reboot"], seconds: 30)
        guard outcome?.status == 0 else {
            throw CommandFailure(
                what: "the box does not reboot", why: "systemctl did not take it", hint: "systemctl reboot")
        }
    }
}

struct UpdateRollbackCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rollback", abstract: "Start the other system with the next reboot.",
        discussion: """
            It finds its settings and its state as they were when it ran last: what was changed since is not in them.

              sudo watchboxctl update rollback --reboot
            """)

    @Flag(help: "Reboot into it at once.")
    var reboot = false

    @OptionGroup var output: OutputOptions

    func run() async throws {
        try output.box.requireThisMachine()
        let what = "the other system was not chosen"
        try UpdateCommand.requireRoot(what, command: "rollback")
        let slots = try await asked(or: what) { () async throws(Updater.Failure) in try await Updater().systems() }
        guard let other = slots.other, other.isGood else {
            throw CommandFailure(
                what: what, why: "it is empty, or did not start three times", hint: "watchboxctl update status",
                status: .conflict)
        }
        try await asked(or: what) { () async throws(Updater.Failure) in try await Updater().activateOther() }
        try? PendingUpdate.remove(SharedFiles.pendingUpdate)
        output.report(
            "\(other.name) starts with the next reboot\(reboot ? ", now" : ": sudo systemctl reboot").",
            Done(object: "system.\(other.name)", action: "chosen"))
        if reboot { try Reboot.now() }
    }
}

struct UpdateMarkGoodCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "mark-good", abstract: "Keep the system that runs, without waiting for its cameras.",
        discussion: "  sudo watchboxctl update mark-good")

    @OptionGroup var output: OutputOptions

    func run() async throws {
        try output.box.requireThisMachine()
        let what = "the running system was not kept"
        try UpdateCommand.requireRoot(what, command: "mark-good")
        try await asked(or: what) { () async throws(Updater.Failure) in try await Updater().markGood() }
        try? PendingUpdate.remove(SharedFiles.pendingUpdate)
        output.report("The running system is kept.", Done(object: "system", action: "kept"))
    }
}

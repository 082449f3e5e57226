import ArgumentParser
import BoxReadings
import Console
import ControlAPI
import ControlClient
import Platform
import SystemUpdate

/// Runs once at each start of a flashed box (`watchbox-update-gate.service`).
struct UpdateGateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "gate", abstract: "Keep the system that runs once it has shown that it works; for a unit.",
        discussion: """
            After an update, the cameras that published before have to publish for --hold seconds. Without a verdict in \
            --limit seconds the box reboots, and after three such starts runs the system of before.

              sudo watchboxctl update gate --hold 60
            """)

    @Option(help: "Seconds for which all has to be well.")
    var hold = 300.0

    @Option(help: "Seconds until it has to have begun to be well.")
    var limit = 900.0

    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard (0...86_400).contains(hold), (1...86_400).contains(limit) else {
            throw ValidationError("--hold and --limit are seconds, at most a day.")
        }
    }

    func run() async throws {
        try output.box.requireThisMachine()
        try UpdateCommand.requireRoot("nothing was judged", command: "gate")
        let running = SystemVersion.running() ?? ""
        let pending = PendingUpdate.read(SharedFiles.pendingUpdate)
        let isUpdate = pending != nil && pending?.system == SystemVersion.runningSystem()
        if let pending, !isUpdate {
            // The other system did not stay, or was never started.
            StandardError.writeLine(
                "\(running) runs, not the update \(pending.version): it was not started, or it was taken back")
        }
        let begin = Self.now
        var gate = UpdateGate(
            cameras: isUpdate ? pending?.cameras ?? [] : [], hold: .seconds(hold), limit: .seconds(limit), at: Self.now)
        var told = ""
        while true {
            switch gate.observed(await observation(), at: Self.now) {
            case .good:
                do throws(Updater.Failure) {
                    try await Updater().markGood()
                } catch {
                    // RAUC may be busy, or the boot partition on its way.
                    tell("it works, and cannot be kept yet: \(error.why)", &told)
                    guard Self.now - begin < .seconds(limit + hold) else {
                        throw CommandFailure(error, what: "the running system works, and was not kept")
                    }
                    break
                }
                // Another one may have been installed meanwhile.
                if isUpdate, PendingUpdate.read(SharedFiles.pendingUpdate) == pending {
                    try? PendingUpdate.remove(SharedFiles.pendingUpdate)
                }
                return output.report("\(running) is kept.", Done(object: "system", action: "kept"))
            case .failed(let why):
                if isUpdate, PendingUpdate.read(SharedFiles.pendingUpdate) != pending {
                    return output.report(
                        "\(running) was judged by hand.", Done(object: "system", action: "left as it is"))
                }
                // Without the part of the card that belongs to the box, what was pending is not known.
                guard isUpdate || Self.isDataLost, await hasOther else {
                    throw CommandFailure(
                        what: "the running system was not marked as good", why: why, hint: "watchboxctl health")
                }
                StandardError.writeLine("\(running) is not kept: \(why). The box reboots.")
                try Reboot.now()
                throw ExitCode(ExitStatus.rebootRequired.rawValue)
            case .waiting(let what): tell("waiting: \(what)", &told)
            }
            try await Task.sleep(for: .seconds(1))
        }
    }

    /// Numbers in it change with each look; it is told once.
    private func tell(_ what: String, _ told: inout String) {
        let kind = String(what.prefix(32))
        if kind != told { StandardError.writeLine(what) }
        told = kind
    }

    /// Whether there is a system to go back to.
    private var hasOther: Bool {
        get async {
            do throws(Updater.Failure) {
                let slots = try await Updater().systems()
                return slots.other?.isGood == true
            } catch {
                // An update came from somewhere.
                return true
            }
        }
    }

    /// The initramfs could not mount it: all that is written is gone with the next start.
    private static var isDataLost: Bool { SmallFile.exists("/run/watchbox-data-lost") }

    private static var now: Duration { .nanoseconds(Int64(clamping: Clocks.boot)) }

    private func observation() async -> UpdateGate.Observation {
        let cameras = try? await output.client.get(CameraListDocument.self, APIPath.cameras()).cameras
        let watchdog = WatchdogReading.read(BoxPaths(root: ""))
        return UpdateGate.Observation(
            publishing: Set((cameras ?? []).filter { $0.stream.state == .live }.map(\.id)),
            isStoreWritable: Self.isStoreWritable,
            isWatchdogArmed: watchdog.isPresent ? watchdog.state == "active" : nil,
            isControlThere: cameras != nil)
    }

    private static var isStoreWritable: Bool {
        guard !isDataLost else { return false }
        do throws(FileFailure) {
            try DurableFile.replace(SharedFiles.probe, with: [0x31])
            try DurableFile.remove(SharedFiles.probe)
            return true
        } catch {
            return false
        }
    }
}

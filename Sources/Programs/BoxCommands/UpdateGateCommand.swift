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
        var gate = UpdateGate(
            cameras: isUpdate ? pending?.cameras ?? [] : [], hold: .seconds(hold), limit: .seconds(limit), at: Self.now)
        var told = ""
        while true {
            switch gate.observed(await observation(), at: Self.now) {
            case .good:
                do throws(Updater.Failure) { try await Updater().markGood() } catch {
                    throw CommandFailure(error, what: "the running system works, and was not kept")
                }
                // The unjudged update of another system stays on record until the next one: `update status` shows it.
                if isUpdate { try? PendingUpdate.remove(SharedFiles.pendingUpdate) }
                return output.report("\(running) is kept.", Done(object: "system", action: "kept"))
            case .failed(let why):
                guard isUpdate else {
                    throw CommandFailure(
                        what: "the running system was not marked as good", why: why, hint: "watchboxctl health")
                }
                StandardError.writeLine("\(running) is not kept: \(why). The box reboots.")
                try Reboot.now()
                throw ExitCode(ExitStatus.rebootRequired.rawValue)
            case .waiting(let what):
                // Numbers in it change with each look.
                let kind = what.prefix(24)
                if kind != told { StandardError.writeLine("waiting: \(what)") }
                told = String(kind)
            }
            try await Task.sleep(for: .seconds(1))
        }
    }

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
        do throws(FileFailure) {
            try DurableFile.replace(SharedFiles.probe, with: [0x31])
            try DurableFile.remove(SharedFiles.probe)
            return true
        } catch {
            return false
        }
    }
}

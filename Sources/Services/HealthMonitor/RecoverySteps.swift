internal import BoxReadings
internal import ControlAPI
internal import ErrorCatalog
internal import Glibc
internal import Platform
internal import Systemd

/// Carries the ladder's actions out, through systemd, and reports how each went. One step per object at a time: the
/// ladder's pauses are longer than systemd's deadlines.
struct RecoverySteps: Sendable {
    let units: any UnitControl
    let paths: HealthPaths

    /// What is written in the history before a step is taken, or instead of it.
    static func event(_ action: EscalationLadder.Action, time: Int64) -> HealthEvent {
        func event(
            _ level: LadderLevel, _ check: CheckName, _ object: String?, _ text: String, _ code: ErrorCode
        ) -> HealthEvent {
            HealthEvent(
                id: 0, time: time, kind: "recovery", check: check.rawValue, object: object, level: level.rawValue,
                text: text, code: code)
        }
        switch action {
        case .restartCamera(let camera, let why):
            return event(.restartCamera, .camera, camera, "restarts \(camera): \(why)", .noFrames)
        case .restartedBySystemd(let camera, let times):
            return event(
                .restartCamera, .unit, camera,
                times == 1 ? "systemd restarted \(camera)" : "systemd restarted \(camera) \(times)×", .watchdogAbort)
        case .resetDevice(let camera, let port, let why):
            return event(.resetDevice, .camera, camera, "resets USB port \(port) of \(camera): \(why)", .noFrames)
        case .renewNetwork(let interface, let why):
            return event(.renewNetwork, .networkAddress, interface, "renews \(interface): \(why)", .noAddress)
        case .restartTarget(_, let why):
            return event(.restartTarget, .unit, UnitNames.target, "restarts all services: \(why)", .noFrames)
        case .reboot(let why): return event(.reboot, .boot, nil, "reboots the box: \(why)", .rebooted)
        case .held(let level, let object, let why):
            return HealthEvent(
                id: 0, time: time, kind: "state", check: CheckName.monitor.rawValue, object: object, to: .warn,
                text: "\(level.rawValue) (\(level.text)) is needed, but not done now: \(why)", code: .budgetSpent)
        }
    }

    /// Does it.
    ///
    /// - Returns: what went wrong; nil when it was done.
    func take(_ action: EscalationLadder.Action) async -> String? {
        do throws(SystemdError) {
            switch action {
            case .restartCamera(let camera, _): try await units.restart(UnitNames.camera(camera))
            case .resetDevice(_, let port, _):
                guard let device = deviceNumber(at: port) else { return "skipped: no camera is at USB port \(port)" }
                try await units.start(UnitNames.deviceReset(device))
            case .renewNetwork(let interface, _): try await units.start(UnitNames.linkRenewal(interface))
            case .restartTarget:
                // Each of its parts is started with it, and counts its starts by itself.
                for unit in (try? await units.units(matching: "watchbox-*.service")) ?? [] {
                    try? await units.resetFailed(unit.name)
                }
                try await units.restart(UnitNames.target)
            case .reboot(let why):
                leaveMessage(why)
                // What hangs is the reason for it: no other job may take its place, and reboot.target has a deadline of
                // its own, after which systemd waits for nothing any more (rootfs-overlay).
                try await units.startIrreversibly(UnitNames.reboot)
            case .held, .restartedBySystemd: break
            }
            return nil
        } catch .noSuchUnit(let unit) {
            return "skipped: this system has no \(unit)"
        } catch {
            return "\(error)"
        }
    }

    /// What is at a port now, as `usbreset` wants it: bus and device, `001/004`. A device gets another number whenever
    /// it comes back; its port stays. Nil for what gives no frames: the port is what a camera's process said, and no
    /// such claim may take the box's disk or its network away.
    private func deviceNumber(at port: String) -> String? {
        func number(_ name: String) -> String? {
            guard let text = SmallFile.text("\(paths.box.systemRoot)/bus/usb/devices/\(port)/\(name)", atMost: 16),
                let value = UInt16(text.filter { !$0.isWhitespace }), value < 1000
            else { return nil }
            return String(repeating: "0", count: 3 - String(value).count) + String(value)
        }
        guard hasFrames(at: port), let bus = number("busnum"), let device = number("devnum") else { return nil }
        return "\(bus)/\(device)"
    }

    /// One of its interfaces is of USB's video class.
    private func hasFrames(at port: String) -> Bool {
        let devices = "\(paths.box.systemRoot)/bus/usb/devices"
        return SmallFile.names(in: devices).contains { name in
            name.hasPrefix("\(port):")
                && SmallFile.text("\(devices)/\(name)/bInterfaceClass", atMost: 16)?.hasPrefix("0e") == true
        }
    }

    /// For `/sys/fs/pstore` of the next boot; boards without it have the reason in the ladder's file alone.
    private func leaveMessage(_ why: String) {
        let descriptor = open(paths.persistentMessages, O_WRONLY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        let bytes = Array("watchbox: reboots the box: \(why)\n".utf8)
        _ = write(descriptor, bytes, bytes.count)
    }
}

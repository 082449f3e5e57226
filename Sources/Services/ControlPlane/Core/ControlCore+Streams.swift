internal import BoxConfiguration
internal import ControlAPI
internal import ErrorCatalog
internal import Systemd

extension ControlCore {
    /// Kept until `start`, a change of the camera, or a reboot; a restart of control does not forget it.
    func stopStream(_ id: String) throws {
        _ = try requireCamera(id)
        try transaction.write([], to: paths.stopMark(id), mode: 0o600, isDurable: false)
        try reconcile(asking: .stop, of: UnitName.camera(id))
        hub.publish(.camera, object: id, "stopped by request")
    }

    func startStream(_ id: String) throws {
        try requireRunnable(id)
        try transaction.remove(paths.stopMark(id))
        try reconcile(asking: .start, of: UnitName.camera(id))
        hub.publish(.camera, object: id, "started by request")
    }

    func restartStream(_ id: String) throws {
        try requireRunnable(id)
        try transaction.remove(paths.stopMark(id))
        try reconcile(asking: .restart, of: UnitName.camera(id))
        hub.publish(.camera, object: id, "restarted by request")
    }

    private func requireRunnable(_ id: String) throws {
        let camera = try requireCamera(id)
        guard camera.active else {
            throw CodedError(
                .badRequest, "camera \(id) is disabled", hint: "Enable it: watchboxctl camera enable \(id)", object: id)
        }
        // With what it has it may go on for months; without its secrets it would not start again.
        if let obstacle = target.cameras[id]?.obstacle ?? target.cameras[id]?.doubt { throw obstacle }
    }
}

import CameraModel
import ControlAPI
import Foundation
import Glibc
import Synchronization
import Systemd

/// Stands in for systemd: remembers every call, and with which file each camera was started. The real one is exercised
/// in the rig.
final class RecordingUnits: UnitControl {
    struct Call: Equatable, CustomStringConvertible {
        var verb: String
        var unit: String

        var description: String { "\(verb) \(unit)" }
    }

    private struct State {
        var calls: [Call] = []
        var units: [String: UnitState] = [:]
        /// What the process that runs has read.
        var content: [String: [UInt8]] = [:]
        var failures: [String: SystemdError] = [:]
        var invocations = 0
        var isHeld = false
        var held: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())
    private let runtimeDirectory: String

    init(runtimeDirectory: String) {
        self.runtimeDirectory = runtimeDirectory
    }

    var calls: [Call] { state.withLock { $0.calls } }
    var words: [String] { calls.map(\.description) }

    func calls(of camera: String) -> [String] {
        calls.filter { $0.unit == "watchbox-camera@\(camera).service" }.map(\.verb)
    }

    func forgetCalls() { state.withLock { $0.calls = [] } }

    /// Cameras that run, with the settings that they have read.
    var running: [String: String] {
        state.withLock { state in
            state.units.values.filter { $0.active == "active" }.reduce(into: [:]) { result, unit in
                result[unit.name] = String(decoding: state.content[unit.name] ?? [], as: UTF8.self)
            }
        }
    }

    /// Another user than this process's.
    func set(_ unit: String, user: UInt32?) { state.withLock { $0.units[unit]?.userIdentifier = user } }

    /// Its process has taken a change over.
    func report(_ unit: String, _ change: VideoChange) {
        state.withLock { state in
            guard let content = state.content[unit],
                var configuration = try? JSONDocument.decode(CameraConfiguration.self, from: content)
            else { return }
            switch configuration.source {
            case .testPattern(var pattern):
                pattern.bitrate = change.bitrate ?? pattern.bitrate
                configuration.source = .testPattern(pattern)
            case .device(var device):
                device.bitrate = change.bitrate ?? device.bitrate
                device.frameRate = change.frameRate ?? device.frameRate
                device.gopSeconds = change.gopSeconds ?? device.gopSeconds
                device.width = change.width ?? device.width
                device.height = change.height ?? device.height
                configuration.source = .device(device)
            case .file, .network: return
            }
            state.content[unit] = JSONDocument.bytes(configuration)
        }
    }

    func fail(_ unit: String, _ error: SystemdError?) { state.withLock { $0.failures[unit] = error } }

    func set(_ unit: String, active: String, sub: String = "", result: String = "success", restarts: UInt32 = 0) {
        state.withLock {
            $0.units[unit] = UnitState(
                name: unit, load: "loaded", active: active, sub: sub, result: result, restarts: restarts,
                userIdentifier: active == "active" ? geteuid() : nil)
        }
    }

    /// Jobs do not end until `release`.
    func hold() { state.withLock { $0.isHeld = true } }

    func release() {
        let held = state.withLock { state in
            state.isHeld = false
            defer { state.held = [] }
            return state.held
        }
        for job in held { job.resume() }
    }

    func start(_ unit: String) async throws(SystemdError) { try await run("start", unit) }
    func startIrreversibly(_ unit: String) async throws(SystemdError) { try await run("start irreversibly", unit) }
    func restart(_ unit: String) async throws(SystemdError) { try await run("restart", unit) }

    func stop(_ unit: String) async throws(SystemdError) {
        await begin("stop", unit)
        state.withLock { state in
            state.units[unit] = UnitState(name: unit, load: "loaded", active: "inactive", sub: "dead")
            state.content[unit] = nil
        }
    }

    func resetFailed(_ unit: String) async throws(SystemdError) {
        state.withLock { state in
            state.calls.append(Call(verb: "reset-failed", unit: unit))
            if state.units[unit]?.active == "failed" { state.units[unit]?.active = "inactive" }
        }
    }

    func state(of unit: String) async throws(SystemdError) -> UnitState {
        state.withLock { $0.units[unit] } ?? UnitState(name: unit, load: "loaded", active: "inactive", sub: "dead")
    }

    func units(matching pattern: String) async throws(SystemdError) -> [UnitState] {
        state.withLock { $0.units.values.sorted { $0.name < $1.name } }
    }

    private func begin(_ verb: String, _ unit: String) async {
        await withCheckedContinuation { continuation in
            let isHeld = state.withLock { state in
                state.calls.append(Call(verb: verb, unit: unit))
                if state.isHeld { state.held.append(continuation) }
                return state.isHeld
            }
            if !isHeld { continuation.resume() }
        }
    }

    private func run(_ verb: String, _ unit: String) async throws(SystemdError) {
        await begin(verb, unit)
        let path = file(of: unit)
        let content = FileManager.default.contents(atPath: path).map { [UInt8]($0) }
        let failure = state.withLock { state -> SystemdError? in
            if let failure = state.failures[unit] { return failure }
            guard content != nil else {
                state.units[unit] = UnitState(name: unit, load: "loaded", active: "failed", sub: "failed")
                state.content[unit] = nil
                return .jobFailed(unit: unit, result: "failed")
            }
            state.invocations += 1
            // systemd starts nothing that runs.
            if verb == "start", state.units[unit]?.active == "active" { return nil }
            state.units[unit] = UnitState(
                name: unit, load: "loaded", active: "active", sub: "running", result: "success",
                invocationID: String(format: "%032x", state.invocations), userIdentifier: geteuid())
            state.content[unit] = content
            return nil
        }
        if let failure { throw failure }
    }

    private func file(of unit: String) -> String {
        if unit.hasPrefix("watchbox-camera@") {
            return "\(runtimeDirectory)/service/camera-\(unit.dropFirst(16).dropLast(8)).json"
        }
        return "\(runtimeDirectory)/service/\(unit.dropFirst(9).dropLast(8)).json"
    }
}

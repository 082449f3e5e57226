internal import Logging
public import ONVIF
internal import Synchronization

/// Motors (PTZ). Where no profile is named, the first one that has some is meant.
extension ONVIFDevice {
    /// Moves at these speeds (−1 to 1) and stops after so many seconds (0.1 to 10). Returns when the device began;
    /// another movement replaces this one.
    public func move(
        pan: Double, tilt: Double, zoom: Double, seconds: Double, profile: String? = nil
    ) async throws(ONVIFError) {
        for (name, value) in [("pan", pan), ("tilt", tilt), ("zoom", zoom)] { try check(value, name, -1...1) }
        try check(seconds, "seconds", 0.1...10)
        let (url, profile) = try await motors(profile)
        let milliseconds = Int((seconds * 1000).rounded())
        // A zoom of zero would be refused by a camera that has none, and the same holds for pan and tilt.
        let panTilt = pan != 0 || tilt != 0 || zoom == 0 ? (pan, tilt) : nil
        let request = PTZMessages.continuousMove(
            profile: profile, panTilt: panTilt, zoom: zoom == 0 ? nil : zoom, milliseconds: milliseconds)
        // Not every device keeps to its own timeout.
        try await begin(request, at: url, profile: profile, stopAfter: milliseconds)
    }

    /// Moves to a position: pan and tilt −1 to 1, zoom 0 to 1; what is nil stays.
    public func moveTo(
        pan: Double?, tilt: Double?, zoom: Double?, profile: String? = nil
    ) async throws(ONVIFError) {
        if let pan { try check(pan, "pan", -1...1) }
        if let tilt { try check(tilt, "tilt", -1...1) }
        if let zoom { try check(zoom, "zoom", 0...1) }
        guard pan != nil || tilt != nil || zoom != nil else { throw .invalidRequest(reason: "no position is given") }
        let (url, profile) = try await motors(profile)
        var panTilt: (Double, Double)?
        if let pan, let tilt {
            panTilt = (pan, tilt)
        } else if pan != nil || tilt != nil {
            let now = PTZMessages.position(try await call(PTZMessages.status(profile: profile), at: url))
            guard let newPan = pan ?? now.pan, let newTilt = tilt ?? now.tilt else {
                throw .invalidRequest(reason: "the camera does not report where it points: give both pan and tilt")
            }
            panTilt = (newPan, newTilt)
        }
        let request = PTZMessages.absoluteMove(profile: profile, panTilt: panTilt, zoom: zoom)
        try await begin(request, at: url, profile: profile)
    }

    public func stop(profile: String? = nil) async throws(ONVIFError) {
        let (url, profile) = try await motors(profile)
        let before = state.withLock { $0.movement }
        _ = try await call(PTZMessages.stop(profile: profile), at: url)
        state.withLock { state in
            // A movement that was under way may have reached the device after this: its own stop is still needed.
            guard state.movement.number == before.number, before.underWay == 0 else { return }
            state.movement.number += 1
            state.movement.isMoving = false
        }
    }

    public func presets(profile: String? = nil) async throws(ONVIFError) -> [Preset] {
        let (url, profile) = try await motors(profile)
        return PTZMessages.presets(try await call(PTZMessages.presets(profile: profile), at: url))
    }

    /// By token or by name.
    public func goTo(preset: String, profile: String? = nil) async throws(ONVIFError) {
        let (url, profile) = try await motors(profile)
        let presets = PTZMessages.presets(try await call(PTZMessages.presets(profile: profile), at: url))
        let found = presets.first { $0.token == preset } ?? presets.first { $0.name == preset }
        guard let found else {
            let names = presets.prefix(20).map(\.name).joined(separator: ", ")
            throw .invalidRequest(
                reason: presets.isEmpty
                    ? "the camera has no presets" : "the camera has no preset of this name or token; it has: \(names)")
        }
        try await begin(PTZMessages.goTo(preset: found.token, profile: profile), at: url, profile: profile)
    }

    /// Keeps the present position under this name; one of the same name is replaced.
    @discardableResult
    public func store(preset name: String, profile: String? = nil) async throws(ONVIFError) -> Preset {
        guard (1...64).contains(name.utf8.count), name.unicodeScalars.allSatisfy({ $0.value >= 0x20 }) else {
            throw .invalidRequest(reason: "a preset's name has 1 to 64 bytes and no control characters")
        }
        let (url, profile) = try await motors(profile)
        let presets = PTZMessages.presets(try await call(PTZMessages.presets(profile: profile), at: url))
        let old = presets.first { $0.name == name }?.token
        let answer = try await call(PTZMessages.setPreset(name: name, token: old, profile: profile), at: url)
        guard let token = PTZMessages.presetToken(answer) ?? old else {
            throw .malformed(operation: "SetPreset", reason: "no token in it")
        }
        return Preset(token: token, name: name)
    }

    public func goHome(profile: String? = nil) async throws(ONVIFError) {
        let (url, profile) = try await motors(profile)
        try await begin(PTZMessages.goHome(profile: profile), at: url, profile: profile)
    }

    /// The service's address, and a profile that moves something.
    private func motors(_ profile: String?) async throws(ONVIFError) -> (url: String, profile: String) {
        let services = try await services()
        guard let given = services.ptz else { throw .notSupported(operation: "PTZ: it has no PTZ") }
        let profiles = try await mediaProfiles()
        if let profile {
            guard profiles.contains(where: { $0.token == profile }) else {
                throw .invalidRequest(reason: "the camera has no profile \(profile)")
            }
            return (url(given), profile)
        }
        guard let first = profiles.first(where: { $0.ptzConfiguration != nil }) else {
            throw .notSupported(operation: "PTZ: none of its profiles has PTZ")
        }
        return (url(given), first.token)
    }

    /// Begins a movement, which takes the place of the one before.
    ///
    /// From before the request is sent until it is stopped, a task holds the device: neither a caller that is
    /// cancelled, nor one that lets go of it, nor an answer that is lost leaves motors running.
    ///
    /// - Parameter stopAfter: milliseconds from the answer on; nil for a movement that ends by itself.
    private func begin(
        _ request: ONVIFRequest, at url: String, profile: String, stopAfter: Int? = nil
    ) async throws(ONVIFError) {
        let (number, wasMoving) = state.withLock { state in
            let wasMoving = state.movement.isMoving
            state.movement.number += 1
            state.movement.underWay += 1
            if stopAfter != nil { state.movement.isMoving = true }
            return (state.movement.number, wasMoving)
        }
        let answer = Task { () async -> Result<Void, ONVIFError> in
            do throws(ONVIFError) {
                _ = try await self.call(request, at: url)
                return .success(())
            } catch {
                return .failure(error)
            }
        }
        Task {
            var moves = stopAfter != nil || wasMoving
            switch await answer.value {
            case .success:
                self.state.withLock { $0.movement.underWay -= 1 }
                // What ends by itself took the place of what does not.
                if stopAfter == nil { moves = false }
                if let stopAfter { try? await Task.sleep(for: .milliseconds(stopAfter)) }
            case .failure(let error):
                self.state.withLock { $0.movement.underWay -= 1 }
                // Refused for good: only what moved before still moves.
                if error.isRefusal { moves = wasMoving }
            }
            await self.end(number, moves: moves, profile: profile, at: url)
        }
        try await answer.value.get()
    }

    /// Three times, where the device does not answer.
    private func end(_ number: UInt64, moves: Bool, profile: String, at url: String) async {
        for attempt in 0..<3 where moves {
            // Another one took its place, or it was stopped.
            guard state.withLock({ $0.movement.number }) == number else { return }
            if attempt > 0 { try? await Task.sleep(for: .milliseconds(500)) }
            do throws(ONVIFError) {
                _ = try await call(PTZMessages.stop(profile: profile), at: url)
                break
            } catch {
                logger.warning("The camera was not instructed to stop its PTZ", metadata: ["reason": "\(error)"])
                if !error.isTransient { break }
            }
        }
        state.withLock { state in
            if state.movement.number == number { state.movement.isMoving = false }
        }
    }

    private func check(_ value: Double, _ name: String, _ range: ClosedRange<Double>) throws(ONVIFError) {
        // False for what is not a number, too.
        guard range.contains(value) else {
            throw .invalidRequest(reason: "\(name) must be from \(range.lowerBound) to \(range.upperBound)")
        }
    }
}

extension ONVIFError {
    /// The device says no: it did nothing.
    fileprivate var isRefusal: Bool {
        switch self {
        case .loginNeeded, .loginRefused, .forbidden, .notSupported, .fault, .invalidRequest: true
        case .unreachable, .timedOut, .notONVIF, .malformed, .certificateChanged, .certificate, .cancelled,
            .unavailable:
            false
        }
    }
}

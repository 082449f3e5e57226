import ONVIF
import ONVIFClient
import Testing

@Suite(
    .serialized, .enabled(if: SimulatedCamera.isInstalled, "python3 is not installed"), .timeLimit(.minutes(15)))
struct PTZTests {
    @Test func `a movement begins, and ends by itself`() async throws {
        let camera = try await SimulatedCamera()
        defer { camera.stop() }
        let device = camera.device()
        try await device.move(pan: 0.5, tilt: -0.25, zoom: 0, seconds: 0.3)
        let move = try #require(camera.requests("ContinuousMove").first)
        #expect(move.pan == 0.5 && move.tilt == -0.25 && move.zoom == nil)
        #expect(move.timeout == "PT0.3S")
        #expect(move.path == "/onvif/ptz")
        try await camera.wait { $0.contains { $0.op == "Stop" && $0.ok } }
    }

    @Test func `a new movement takes the place of the one before`() async throws {
        let camera = try await SimulatedCamera()
        defer { camera.stop() }
        let device = camera.device()
        try await device.move(pan: 1, tilt: 0, zoom: 0, seconds: 10)
        try await device.move(pan: 0, tilt: 0, zoom: -1, seconds: 0.1)
        try await camera.wait { $0.contains { $0.op == "Stop" } }
        #expect(camera.requests("ContinuousMove").map(\.zoom) == [nil, -1])
        try await device.stop()
        #expect(camera.requests("Stop").count == 2)
    }

    @Test func `a movement ends though the device is no longer held`() async throws {
        let camera = try await SimulatedCamera()
        defer { camera.stop() }
        try await camera.device().move(pan: 1, tilt: 0, zoom: 0, seconds: 0.5)
        try await camera.wait { $0.contains { $0.op == "Stop" && $0.ok } }
    }

    @Test func `a movement ends though its answer was lost`() async throws {
        let camera = try await SimulatedCamera(["--lose-moves"])
        defer { camera.stop() }
        await #expect(throws: ONVIFError.self) {
            try await camera.device().move(pan: 1, tilt: 0, zoom: 0, seconds: 0.5)
        }
        try await camera.wait { $0.contains { $0.op == "Stop" && $0.ok } }
    }

    @Test func `a stop that was refused leaves the movement's own`() async throws {
        let camera = try await SimulatedCamera(["--refuse-stops", "1"])
        defer { camera.stop() }
        let device = camera.device()
        try await device.move(pan: 1, tilt: 0, zoom: 0, seconds: 0.5)
        await #expect(throws: ONVIFError.self) { try await device.stop() }
        try await camera.wait { $0.contains { $0.op == "Stop" && $0.fault == nil } }
    }

    @Test func `positions, presets and home`() async throws {
        let camera = try await SimulatedCamera()
        defer { camera.stop() }
        let device = camera.device()
        try await device.moveTo(pan: 0.5, tilt: 0.75, zoom: 0.25)
        #expect(try await device.presets() == [ONVIFDevice.Preset(token: "1", name: "Door")])
        let gate = try await device.store(preset: "Gate <&> \"left\"")
        #expect(gate == ONVIFDevice.Preset(token: "2", name: "Gate <&> \"left\""))
        #expect(try await device.presets().last == gate)
        // The tilt that is not given stays.
        try await device.moveTo(pan: -1, tilt: nil, zoom: nil)
        #expect(camera.requests("AbsoluteMove").last?.tilt == 0.75)
        #expect(camera.requests("AbsoluteMove").last?.zoom == nil)
        // The same name is replaced, not doubled.
        #expect(try await device.store(preset: gate.name).token == "2")
        try await device.goTo(preset: "Door")
        try await device.goTo(preset: "2")
        #expect(camera.requests("GotoPreset").map(\.token) == ["1", "2"])
        try await device.goHome()
        #expect(camera.requests("GotoHomePosition").count == 1)
    }

    @Test func `what cannot be is refused before the camera is asked`() async throws {
        let camera = try await SimulatedCamera()
        defer { camera.stop() }
        let device = camera.device()
        let invalid: [() async throws -> Void] = [
            { try await device.move(pan: 1.5, tilt: 0, zoom: 0, seconds: 1) },
            { try await device.move(pan: .nan, tilt: 0, zoom: 0, seconds: 1) },
            { try await device.move(pan: 0, tilt: 0, zoom: 0, seconds: .infinity) },
            { try await device.moveTo(pan: nil, tilt: nil, zoom: -0.5) },
            { try await device.moveTo(pan: nil, tilt: nil, zoom: nil) },
            { try await device.store(preset: "") },
            { try await device.goTo(preset: "nowhere") },
            { _ = try await device.presets(profile: "nothing") },
        ]
        for request in invalid {
            let error = await #expect(throws: ONVIFError.self) { try await request() }
            guard case .invalidRequest? = error else {
                Issue.record("\(String(describing: error))")
                continue
            }
        }
        #expect(camera.requests.allSatisfy { $0.path != "/onvif/ptz" || $0.op == "GetPresets" })
    }

    @Test func `a camera without PTZ says so`() async throws {
        let camera = try await SimulatedCamera(["--no-ptz"])
        defer { camera.stop() }
        let error = await #expect(throws: ONVIFError.self) { try await camera.device().goHome() }
        guard case .notSupported? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test func `a user who may only look is told so, and the login stays good`() async throws {
        let camera = try await SimulatedCamera(["--viewer"])
        defer { camera.stop() }
        let device = camera.device()
        await #expect(throws: ONVIFError.forbidden(operation: "GotoHomePosition")) { try await device.goHome() }
        #expect(try await device.presets().count == 1)
    }
}

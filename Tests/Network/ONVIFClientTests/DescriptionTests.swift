import CameraModel
import Foundation
import ONVIF
import Platform
import Synchronization
import Testing

@testable import ONVIFClient

@Suite(
    .serialized, .enabled(if: SimulatedCamera.isInstalled, "python3 is not installed"), .timeLimit(.minutes(15)))
struct DescriptionTests {
    @Test func `H.265 comes from Media2, and Media1 alone reports what it can`() async throws {
        let camera = try await SimulatedCamera(["--hevc"])
        defer { camera.stop() }
        let new = try await camera.device().describe()
        #expect(new.device.profiles.map(\.codec) == ["hevc", "h264"])
        #expect(new.device.profiles.map(\.service) == ["media2", "media2"])
        let older = try await SimulatedCamera(["--hevc", "--no-media2"])
        defer { older.stop() }
        let old = try await older.device().describe()
        #expect(old.device.profiles.map(\.codec) == [nil, "h264"])
        #expect(old.device.profiles.map(\.service) == ["media", "media"])
    }

    @Test func `what a camera has not is left out and remarked upon`() async throws {
        let camera = try await SimulatedCamera(["--no-ptz", "--no-events", "--no-snapshot", "--serial", "000000"])
        defer { camera.stop() }
        let description = try await camera.device().describe()
        #expect(!description.device.hasPTZ && !description.device.hasEvents)
        #expect(description.device.profiles.allSatisfy { $0.snapshotURL == nil && $0.url != nil && !$0.hasPTZ })
        // Asked for the first profile, and not again.
        #expect(camera.requests("GetSnapshotUri").count == 1)
        #expect(description.device.serial == nil)
        #expect(description.device.identity.isEmpty == false)
    }

    @Test func `an address that only the camera knows is replaced, and both are reported`() async throws {
        let camera = try await SimulatedCamera(["--xaddr-host", "192.168.77.3"])
        defer { camera.stop() }
        let description = try await camera.device().describe()
        let given = description.repairedAddresses.map(\.given)
        #expect(given.contains("http://192.168.77.3:\(camera.port)/onvif/media2"))
        #expect(given.contains("rtsp://192.168.77.3:8554/h264"))
        #expect(description.repairedAddresses.allSatisfy { $0.used.contains("127.0.0.1") })
    }

    @Test func `a description has one deadline, whatever it asks`() async throws {
        let camera = try await SimulatedCamera(["--slow", "3000"])
        defer { camera.stop() }
        let device = camera.device()
        let error = ONVIFError.timedOut(host: "127.0.0.1", operation: "GetSystemDateAndTime")
        await #expect(throws: error) { try await device.describe(until: Clocks.boot + 500_000_000) }
        await #expect(throws: error) { try await device.describe(until: Clocks.boot) }
        #expect(device.state.withLock { $0.requests } == 1)
    }

    @Test func `a description that is not waited for ends`() async throws {
        let camera = try await SimulatedCamera(["--slow", "8000"])
        defer { camera.stop() }
        let device = camera.device()
        let asking = Task { try await device.describe() }
        while device.state.withLock({ $0.requests }) == 0 { await Task.yield() }
        asking.cancel()
        await #expect(throws: ONVIFError.cancelled) { try await asking.value }
    }

    @Test func `thirty-two of forty profiles are asked two at a time`() async throws {
        let camera = try await SimulatedCamera(["--profiles", "40"])
        defer { camera.stop() }
        let description = try await camera.device().describe()
        #expect(description.device.profiles.count == 32)
        #expect(description.device.profiles.allSatisfy { $0.url != nil })
    }

    @Test func `a key frame is requested from the service that reported the profile`() async throws {
        let camera = try await SimulatedCamera()
        defer { camera.stop() }
        let device = camera.device()
        try await device.setSynchronizationPoint(profile: "Profile_2")
        let request = try #require(camera.requests("SetSynchronizationPoint").first)
        #expect(request.token == "Profile_2")
        #expect(request.path == "/onvif/media2")
    }

    @Test func `a clock that is shown to users alone is read with the login`() async throws {
        let camera = try await SimulatedCamera(["--clock-needs-auth", "--skew", "-600", "--tz", "EET-2"])
        defer { camera.stop() }
        let clock = try await camera.device().clock()
        #expect(clock.zone == "EET-2")
        #expect(clock.isProven)
        #expect((-630_000 ... -570_000).contains(clock.offsetMilliseconds))
    }

    @Test func `no one there, and someone else there, are told apart`() async throws {
        let camera = try await SimulatedCamera()
        defer { camera.stop() }
        camera.stop()
        let gone = ONVIFDevice(camera.access(), logger: .silent)
        let unreachable = await #expect(throws: ONVIFError.self) { try await gone.describe() }
        guard case .unreachable(host: "127.0.0.1", _)? = unreachable else {
            Issue.record("\(String(describing: unreachable))")
            return
        }
        // A web server that knows no POST.
        let web = try await SimulatedCamera(program: "web-server.py")
        defer { web.stop() }
        let other = ONVIFDevice(web.access(), logger: .silent)
        let notONVIF = await #expect(throws: ONVIFError.self) { try await other.describe() }
        guard case .notONVIF? = notONVIF else {
            Issue.record("\(String(describing: notONVIF))")
            return
        }
    }

    @Test(arguments: ["http://", "rtsp://127.0.0.1/", "http://user:secret@127.0.0.1/onvif/device_service", "", "\u{0}"])
    func `an invalid address is refused before anything is sent`(_ url: String) async throws {
        let device = ONVIFDevice(ONVIFDevice.Access(url: url, user: "a", password: "b"), logger: .silent)
        let error = await #expect(throws: ONVIFError.self) { try await device.describe() }
        guard case .invalidRequest(let reason)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(!reason.contains("secret"))
    }

    @Test func `device services are looked for at the ports that cameras use`() {
        #expect(
            ONVIFDevice.urls(host: "192.0.2.7", port: nil) == [
                "http://192.0.2.7/onvif/device_service", "https://192.0.2.7/onvif/device_service",
                "http://192.0.2.7:2020/onvif/device_service",
                "http://192.0.2.7:8000/onvif/device_service", "http://192.0.2.7:8899/onvif/device_service",
                "http://192.0.2.7:8080/onvif/device_service",
            ])
        #expect(ONVIFDevice.urls(host: "fd00::7", port: 81) == ["http://[fd00::7]:81/onvif/device_service"])
        #expect(ONVIFDevice.urls(host: "cam.lan", port: 443) == ["https://cam.lan/onvif/device_service"])
    }

    @Test func `a web page that answers everything is not a camera`() async throws {
        let page = try await SimulatedCamera(["--page"], program: "web-server.py")
        defer { page.stop() }
        let error = await #expect(throws: ONVIFError.self) { try await page.device().describe() }
        guard case .notONVIF? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test func `every error says what happened and what to do next`() {
        let errors: [ONVIFError] = [
            .unreachable(host: "h", reason: "r"), .timedOut(host: "h", operation: "o"),
            .notONVIF(host: "h", reason: "r"),
            .loginNeeded(host: "h"), .loginRefused(host: "h", tried: [.usernameToken, .httpDigest]),
            .forbidden(operation: "o"), .notSupported(operation: "o"),
            .fault(operation: "o", ONVIFFault(kind: .busy, subcode: "s", reason: "r")),
            .malformed(operation: "o", reason: "r"), .certificateChanged(host: "h"),
            .certificate(host: "h", reason: "r"),
            .invalidRequest(reason: "r"), .cancelled, .unavailable(reason: "r"),
        ]
        for error in errors {
            #expect(!error.description.isEmpty && !error.description.hasSuffix("."))
            #expect(error.hint.hasSuffix("."))
        }
        #expect(errors[4].hint.contains("ONVIF users"))
    }
}

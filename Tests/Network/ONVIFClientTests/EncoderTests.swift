import CameraModel
import ONVIF
import ONVIFClient
import Testing

@Suite(
    .serialized, .enabled(if: SimulatedCamera.isInstalled, "python3 is not installed"), .timeLimit(.minutes(15)))
struct EncoderTests {
    static let sizes = [(1920, 1080), (1280, 720), (640, 360)].map { CameraEncoder.Size(width: $0.0, height: $0.1) }

    @Test(arguments: [MediaService.media2, .media])
    func `encoders, what they may be set to, and who uses them`(_ service: MediaService) async throws {
        let camera = try await SimulatedCamera(service == .media ? ["--no-media2"] : [])
        defer { camera.stop() }
        let encoders = try await camera.device().encoders()
        #expect(encoders.map(\.token) == ["VE1", "VE2"])
        #expect(encoders.map(\.profiles) == [["Profile_1"], ["Profile_2"]])
        let first = try #require(encoders.first)
        #expect(first.codec == "h264")
        #expect(first.codecs == (service == .media ? ["h264"] : ["h264", "hevc"]))
        #expect(first.size == CameraEncoder.Size(width: 1920, height: 1080))
        #expect(first.sizes == Self.sizes)
        #expect(first.rate == 25 && first.bitrate == 4_096_000 && first.gop == 50)
        #expect(first.rates == (service == .media ? 1...25 : 5...25))
        #expect(first.bitrates == 64_000...8_192_000)
        #expect(first.gops == 1...250)
    }

    @Test(arguments: [MediaService.media2, .media])
    func `an encoder is changed, and the rest of it stays`(_ service: MediaService) async throws {
        let camera = try await SimulatedCamera(service == .media ? ["--no-media2"] : [])
        defer { camera.stop() }
        let device = camera.device()
        let changed = try await device.setEncoder(
            CameraEncoder.Change(
                token: "Profile_2", size: CameraEncoder.Size(width: 1280, height: 720), rate: 10, bitrate: 700_000,
                gop: 20))
        #expect(changed.token == "VE2")
        #expect(changed.size == CameraEncoder.Size(width: 1280, height: 720))
        #expect(changed.rate == 10 && changed.bitrate == 700_000 && changed.gop == 20)
        let only = try await device.setEncoder(CameraEncoder.Change(token: "VE2", gop: 30))
        #expect(only.size == CameraEncoder.Size(width: 1280, height: 720))
        #expect(only.rate == 10 && only.bitrate == 700_000 && only.gop == 30)
        let request = try #require(camera.requests("SetVideoEncoderConfiguration").last)
        #expect(request.codec == "H264" && request.width == 1280 && request.kbps == 700)
        #expect(request.path == (service == .media ? "/onvif/media" : "/onvif/media2"))
    }

    @Test func `another codec`() async throws {
        let camera = try await SimulatedCamera()
        defer { camera.stop() }
        let changed = try await camera.device().setEncoder(CameraEncoder.Change(token: "VE1", codec: "hevc"))
        #expect(changed.codec == "hevc")
    }

    @Test func `what the camera does not take is refused with what it takes`() async throws {
        let camera = try await SimulatedCamera()
        defer { camera.stop() }
        let device = camera.device()
        let changes = [
            CameraEncoder.Change(token: "VE1"), CameraEncoder.Change(token: "VE9", gop: 5),
            CameraEncoder.Change(token: "VE1", codec: "av1"),
            CameraEncoder.Change(token: "VE1", size: CameraEncoder.Size(width: 641, height: 360)),
            CameraEncoder.Change(token: "VE1", rate: 60), CameraEncoder.Change(token: "VE1", rate: .nan),
            CameraEncoder.Change(token: "VE1", bitrate: .max), CameraEncoder.Change(token: "VE1", gop: 0),
        ]
        for change in changes {
            let error = await #expect(throws: ONVIFError.self) { try await device.setEncoder(change) }
            guard case .invalidRequest(let reason)? = error else {
                Issue.record("\(String(describing: error))")
                continue
            }
            if change.size != nil { #expect(reason.contains("640x360")) }
        }
        #expect(camera.requests("SetVideoEncoderConfiguration").isEmpty)
    }
}

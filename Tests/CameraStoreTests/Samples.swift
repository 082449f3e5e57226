import CameraStore
import Foundation
import Settings

/// A store in a directory of its own, gone after `body`.
func withStore(_ body: (CameraStore) throws -> Void) throws {
    try withTemporaryDirectory { try body(try CameraStore(path: $0 + "/state.db")) }
}

func sample(_ id: String, grid: Int = 0) -> Camera {
    Camera(id: id, name: "Camera \(id)", source: "test:", gridPosition: grid, added: 1_700_000_000)
}

func profile(_ id: String, of camera: String, isDefault: Bool = false) -> StreamProfile {
    StreamProfile(
        id: id, camera: camera, name: id, source: "rtsp://192.0.2.1/\(id)", width: 1280, height: 720, rate: 25,
        codec: "h264", isDefault: isDefault)
}

/// With every field filled.
let everything = CameraRecord(
    camera: Camera(
        id: "front-door", uuid: "5f0c2a54-7a4b-4f0e-9d0c-0b6c1d3a1f01",
        name: #"Tür 🚪👨‍👩‍👧‍👦 "quoted" \ back ' # = [x] é \u0041 \n"#,
        source: "rtsp://192.0.2.50:554/Streaming/Channels/101?transport=tcp", user: #"ad"min\"#, address: "192.0.2.50",
        port: 554, manufacturer: "HIKVISION", model: "DS-2CD2042", firmware: "V5.4.5", isActive: false, gridPosition: 3,
        added: 1_700_000_000, lastConnected: 1_763_700_000,
        identity: CameraIdentity(
            onvifEndpoint: "urn:uuid:9b1d0c5e-0000-1000-8000-4419b6a1c2d3", serial: #"S "1""#, mac: "44:19:b6:a1:c2:d3",
            usb: "046d:082d:1A2B3C"),
        settings: [
            "size": .string("1920x1080"), "rate": .integer(25), "bitrate": .integer(.max), "gop": .real(1.0),
            "lowest": .integer(.min), "tiny": .real(.leastNonzeroMagnitude), "huge": .real(1.7976931348623157e308),
            "tenth": .real(0.1), "audio": .boolean(false), "secret": .string("password"),
            "attributes": .strings([]), "viewers": .strings(["alice", #"b"o\b"#, ""]), "empty": .string(""),
        ]),
    profiles: [
        StreamProfile(
            id: "Profile_1", camera: "front-door", name: "main", source: "rtsp://192.0.2.50/1", width: 1920,
            height: 1080, rate: 12.5, codec: "hevc", isDefault: true, bitrate: 4_096_000, gop: 50, service: "media2",
            snapshot: "http://192.0.2.50/onvif-http/snapshot?Profile_1"), profile("ß \"2\"", of: "front-door"),
    ])

import CameraModel
import Foundation
import Testing

@testable import RTSPIngest

@Suite struct CameraCacheTests {
    private let directory = TemporaryDirectory()
    private let url = "onvif://192.0.2.7"

    @Test func `what was stored is there after a restart, and replaces the file as a whole`() throws {
        let path = directory.path("network.json")
        var memory = CameraCache(url: url)
        memory.pin = "sha256//47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="
        memory.clock = "utc"
        memory.streams = ["main": "rtsp://192.0.2.7/Streaming/Channels/101?transportmode=unicast"]
        #expect(memory.store(path) == nil)
        #expect(CameraCache.load(path, url: url) == memory)
        memory.serial = "DS-1"
        #expect(memory.store(path) == nil)
        #expect(CameraCache.load(path, url: url) == memory)
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.url.path) == ["network.json"])
    }

    @Test func `of another camera nothing is believed`() {
        let path = directory.path("network.json")
        var memory = CameraCache(url: url)
        memory.pin = "sha256//x"
        #expect(memory.store(path) == nil)
        #expect(CameraCache.load(path, url: "onvif://192.0.2.8") == CameraCache(url: "onvif://192.0.2.8"))
    }

    @Test func `of a camera with another address, user or pin nothing is believed, and the file is begun again`() throws
    {
        let path = directory.path("network.json")
        let pin = "sha256//47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="
        var network = CameraConfiguration.Network(url: url, user: "admin")
        network.memoryFile = path
        #expect(CameraCache.prepare(network) == nil)
        var memory = CameraCache.load(path, url: url)
        memory.pin = pin
        memory.streams = ["main": "rtsps://192.0.2.7/1"]
        #expect(memory.store(path) == nil)
        #expect(CameraCache.prepare(network) == nil)
        #expect(CameraCache.load(path, for: network) == memory)
        #expect(CameraCache.load(path, url: url) == memory)
        var others = [network, network, network, network]
        others[0].user = nil
        others[1].user = ""
        others[2].pin = pin
        others[3].url = "onvif://192.0.2.8"
        for other in others {
            #expect(memory.store(path) == nil)
            #expect(CameraCache.load(path, for: other).pin == nil)
            #expect(CameraCache.load(path, for: other).streams.isEmpty)
            #expect(CameraCache.prepare(other) == nil)
            #expect(CameraCache.load(path, url: other.url).pin == nil)
            #expect(CameraCache.load(path, url: other.url).settings == CameraCache.digest(of: other))
        }
        // An accepted move is not one to another camera: the keys stay, and what is at the old address goes.
        memory.servicePin = pin
        memory.serial = "SN1"
        memory.serviceURL = "https://192.0.2.7/onvif/device_service"
        memory.proposed = [others[3].url]
        #expect(memory.store(path) == nil)
        #expect(CameraCache.prepare(others[3]) == nil)
        let moved = CameraCache.load(path, url: others[3].url)
        #expect(moved.pin == pin && moved.servicePin == pin && moved.serial == "SN1")
        #expect(moved.serviceURL == nil && moved.streams.isEmpty && moved.proposed == nil)
        var other = others[3]
        other.user = "other"
        #expect(memory.store(path) == nil)
        #expect(CameraCache.load(path, for: other).pin == nil)
        // One of which nobody knows the settings.
        memory.settings = nil
        #expect(memory.store(path) == nil)
        #expect(CameraCache.load(path, for: network).pin == nil)
    }

    @Test func `a damaged or hostile file says nothing`() throws {
        let path = directory.path("network.json")
        var memory = CameraCache(url: url)
        memory.address = "192.0.2.7"
        #expect(memory.store(path) == nil)
        let whole = try Data(contentsOf: URL(fileURLWithPath: path))
        for length in 0..<(whole.count - 1) {
            try whole.prefix(length).write(to: URL(fileURLWithPath: path))
            #expect(CameraCache.load(path, url: url) == CameraCache(url: url))
        }
        let hostile = [
            #"{"url":"onvif://192.0.2.7","pin":"a\u000ab","streams":{}}"#,
            #"{"url":"onvif://192.0.2.7","streams":{"main":"\#(String(repeating: "x", count: 5000))"}}"#,
            #"{"url":"onvif://192.0.2.7","streams":{"main":7}}"#,
            String(repeating: "[", count: 20_000),
            String(repeating: " ", count: CameraCache.maxFileSize + 1),
        ]
        for text in hostile {
            try Data(text.utf8).write(to: URL(fileURLWithPath: path))
            #expect(CameraCache.load(path, url: url) == CameraCache(url: url), "\(text.prefix(80))")
        }
    }

    @Test func `a place that cannot be written is reported and harms nothing`() throws {
        let memory = CameraCache(url: url)
        let reason = try #require(memory.store(directory.path("missing/network.json")))
        #expect(reason.contains("missing/network.json"))
        #expect(CameraCache.load(directory.path("missing/network.json"), url: url) == memory)
        #expect(CameraCache.load(nil, url: url) == memory)
        #expect(CameraCache.load(directory.url.path, url: url) == memory)
    }
}

import CameraModel
import Foundation
import Testing

@testable import RTSPIngest

@Suite struct CameraMemoryTests {
    private let directory = TemporaryDirectory()
    private let url = "onvif://192.0.2.7"

    @Test func `what was stored is there after a restart, and replaces the file as a whole`() throws {
        let path = directory.path("network.json")
        var memory = CameraMemory(url: url)
        memory.pin = "sha256//47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="
        memory.clock = "utc"
        memory.streams = ["main": "rtsp://192.0.2.7/Streaming/Channels/101?transportmode=unicast"]
        #expect(memory.store(path) == nil)
        #expect(CameraMemory.load(path, url: url) == memory)
        memory.serial = "DS-1"
        #expect(memory.store(path) == nil)
        #expect(CameraMemory.load(path, url: url) == memory)
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.url.path) == ["network.json"])
    }

    @Test func `of another camera nothing is believed`() {
        let path = directory.path("network.json")
        var memory = CameraMemory(url: url)
        memory.pin = "sha256//x"
        #expect(memory.store(path) == nil)
        #expect(CameraMemory.load(path, url: "onvif://192.0.2.8") == CameraMemory(url: "onvif://192.0.2.8"))
    }

    @Test func `of a camera with another address, user or pin nothing is believed, and the file is begun anew`() throws
    {
        let path = directory.path("network.json")
        let pin = "sha256//47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="
        var network = CameraConfiguration.Network(url: url, user: "admin")
        network.memoryFile = path
        #expect(CameraMemory.prepare(network) == nil)
        var memory = CameraMemory.load(path, url: url)
        memory.pin = pin
        memory.streams = ["main": "rtsps://192.0.2.7/1"]
        #expect(memory.store(path) == nil)
        #expect(CameraMemory.prepare(network) == nil)
        #expect(CameraMemory.load(path, for: network) == memory)
        #expect(CameraMemory.load(path, url: url) == memory)
        var others = [network, network, network, network]
        others[0].user = nil
        others[1].user = ""
        others[2].pin = pin
        others[3].url = "onvif://192.0.2.8"
        for other in others {
            #expect(memory.store(path) == nil)
            #expect(CameraMemory.load(path, for: other).pin == nil)
            #expect(CameraMemory.load(path, for: other).streams.isEmpty)
            #expect(CameraMemory.prepare(other) == nil)
            #expect(CameraMemory.load(path, url: other.url).pin == nil)
            #expect(CameraMemory.load(path, url: other.url).settings == CameraMemory.digest(of: other))
        }
        // A move that a person accepts is none to another camera: the keys stay, and what is at the old address goes.
        memory.servicePin = pin
        memory.serial = "SN1"
        memory.serviceURL = "https://192.0.2.7/onvif/device_service"
        memory.proposed = [others[3].url]
        #expect(memory.store(path) == nil)
        #expect(CameraMemory.prepare(others[3]) == nil)
        let moved = CameraMemory.load(path, url: others[3].url)
        #expect(moved.pin == pin && moved.servicePin == pin && moved.serial == "SN1")
        #expect(moved.serviceURL == nil && moved.streams.isEmpty && moved.proposed == nil)
        var other = others[3]
        other.user = "other"
        #expect(memory.store(path) == nil)
        #expect(CameraMemory.load(path, for: other).pin == nil)
        // One of which nobody knows the settings.
        memory.settings = nil
        #expect(memory.store(path) == nil)
        #expect(CameraMemory.load(path, for: network).pin == nil)
    }

    @Test func `a damaged or hostile file says nothing`() throws {
        let path = directory.path("network.json")
        var memory = CameraMemory(url: url)
        memory.address = "192.0.2.7"
        #expect(memory.store(path) == nil)
        let whole = try Data(contentsOf: URL(fileURLWithPath: path))
        for length in 0..<(whole.count - 1) {
            try whole.prefix(length).write(to: URL(fileURLWithPath: path))
            #expect(CameraMemory.load(path, url: url) == CameraMemory(url: url))
        }
        let hostile = [
            #"{"url":"onvif://192.0.2.7","pin":"a\u000ab","streams":{}}"#,
            #"{"url":"onvif://192.0.2.7","streams":{"main":"\#(String(repeating: "x", count: 5000))"}}"#,
            #"{"url":"onvif://192.0.2.7","streams":{"main":7}}"#,
            String(repeating: "[", count: 20_000),
            String(repeating: " ", count: CameraMemory.longestFile + 1),
        ]
        for text in hostile {
            try Data(text.utf8).write(to: URL(fileURLWithPath: path))
            #expect(CameraMemory.load(path, url: url) == CameraMemory(url: url), "\(text.prefix(80))")
        }
    }

    @Test func `a place that cannot be written is told and harms nothing`() throws {
        let memory = CameraMemory(url: url)
        let reason = try #require(memory.store(directory.path("missing/network.json")))
        #expect(reason.contains("missing/network.json"))
        #expect(CameraMemory.load(directory.path("missing/network.json"), url: url) == memory)
        #expect(CameraMemory.load(nil, url: url) == memory)
        #expect(CameraMemory.load(directory.url.path, url: url) == memory)
    }
}

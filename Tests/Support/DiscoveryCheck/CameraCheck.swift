import CameraModel
import Discovery
import Foundation
import Logging
import ONVIF
import RTSPIngest

/// A camera as its process runs it, and what control does for one that is away; only that looks follow each other at
/// once.
enum CameraCheck {
    private struct Reported: Encodable, Equatable {
        var event = "camera"
        var url: String?
        var moves: [NetworkStatistics.Move]?
        var reason: String?
        /// By which it would be recognised.
        var identity: [String]
    }

    static func run(_ arguments: inout Arguments) async throws {
        var network = CameraConfiguration.Network(url: "")
        network.user = try arguments.options("--user").last
        network.passwordFile = try arguments.options("--password-file").last
        network.memoryFile = try arguments.options("--memory").last
        network.url = try arguments.next("a camera's URL")
        try arguments.end()
        guard let host = DeviceURL(network.url)?.host else { throw UsageError("\(network.url) is not a URL") }
        let logger = Logger(label: "discovery-check")
        let source = NetworkSource(network, camera: "yard", logger: logger)
        Thread.detachNewThread { try? source.run { _ in } }
        var known: DeviceIdentity?
        var last: Reported?
        while true {
            let statistics = source.capture
            let reported = Reported(
                url: statistics.network?.url, moves: statistics.network?.moves, reason: statistics.reason,
                identity: [known?.endpoint, known?.serial, known?.mac].compactMap { $0 })
            if reported != last { say(reported) }
            last = reported
            if known == nil {
                known = await LookAround.identity(at: host, logger: logger)
            } else if let known, statistics.state == .waiting {
                for sighting in await LookAround.sightings(near: [host], logger: logger) where sighting.address != host
                {
                    guard let trait = known.trait(sharedWith: sighting.identity),
                        let evidence = NetworkStatistics.Move.Evidence(rawValue: trait.rawValue)
                    else { continue }
                    source.announced(address: sighting.address, url: sighting.url, evidence: evidence)
                }
            }
            try await Task.sleep(for: .milliseconds(200))
        }
    }

    private static func say(_ reported: Reported) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let line = try? encoder.encode(reported) else { return }
        FileHandle.standardOutput.write(line + Data([10]))
    }
}

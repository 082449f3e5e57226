import CameraModel
import Logging
import Media
import RTMP
import RTMPTransport
import Settings
import TestSupport
import Testing

@testable import CameraPipeline

let quiet = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

func configuration(
    port: Int, unthrottled: Bool = false, _ change: (inout CameraConfiguration) -> Void = { _ in }
) -> CameraConfiguration {
    var configuration = CameraConfiguration(
        id: "cam1", source: unthrottled ? .file(.init(path: "x", pace: .unthrottled)) : .testPattern(.init()),
        relay: .init(url: "rtmp://127.0.0.1:\(port)/live"), kas: KASConfiguration(url: "https://kas.example.net/kas"))
    change(&configuration)
    return configuration
}

func service(
    _ configuration: CameraConfiguration, _ source: ScriptedSource, _ authority: TestAuthority,
    backoff: ReconnectBackoff.Configuration = .init(), supply: (inout CollectionSupply.Settings) -> Void = { _ in }
) throws -> CameraService {
    var settings = CollectionSupply.Settings(configuration)
    settings.retry = .milliseconds(5)...(.milliseconds(20))
    supply(&settings)
    return try CameraService(
        configuration: configuration, source: source, authority: authority, clear: nil, supply: settings,
        backoff: backoff, logger: quiet, eventLoop: RTMPEventLoop.shared)
}

/// Some hundred frames with audio between them, in groups of 25, sizes from 1 byte to some hundred kilobytes.
func clip(frames: Int, seed: UInt64 = 1) -> [AccessUnit] {
    var random = SeededGenerator(seed: seed)
    var units: [AccessUnit] = []
    for number in 0..<frames {
        let time = Int64(number) * 40
        let size = number % 25 == 0 ? Int(random.next() % 200_000) : Int(random.next() % 5000)
        units.append(videoUnit(time, key: number % 25 == 0, size: size + 1, byte: UInt8(truncatingIfNeeded: number)))
        units.append(audioUnit(time, byte: UInt8(truncatingIfNeeded: number)))
        units.append(audioUnit(time + 20, byte: UInt8(truncatingIfNeeded: number + 1)))
    }
    return units
}

let formats: [MediaEvent] = [.videoFormat(videoFormat), .audioFormat(audioFormat)]

func audit(_ stream: LoopbackRelay.Stream, _ authority: TestAuthority) -> StreamAuditor {
    var auditor = authority.auditor()
    for message in stream.messages { auditor.receive(message.type, message.timestamp, message.payload) }
    auditor.takeEnd()
    return auditor
}

func waitFor(_ state: CameraStatistics.State, of service: CameraService) async -> String? {
    for await event in service.events {
        if case .stateChanged(state, let reason) = event { return reason }
    }
    return nil
}

/// How long a running camera takes to end once it is asked to.
func stopping(_ running: Task<Void, any Error>) async throws -> Duration {
    try await elapsed {
        running.cancel()
        try await running.value
    }
}

extension ScriptedSource {
    /// A file: both formats and all units, as fast as they are taken.
    convenience init(file units: [AccessUnit]) {
        self.init(formats + units.map { .accessUnit($0) })
    }
}

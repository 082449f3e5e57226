import Foundation
import RTMP
import Testing
import Wire

/// Bytes of one direction of one real connection, beside what an independent decoder (in Python) found in them.
struct Fixture: Sendable, CustomTestStringConvertible {
    let name: String
    let bytes: [UInt8]

    /// S0 S1 S2 or C0 C1 C2.
    static let handshakeLength = 3073

    var testDescription: String { name }
    var handshake: ArraySlice<UInt8> { bytes.prefix(Self.handshakeLength) }
    var chunks: ArraySlice<UInt8> { bytes.dropFirst(Self.handshakeLength) }

    init(_ name: String) throws {
        self.name = name
        let text = try String(contentsOf: Self.directory.appending(path: "\(name).hex"), encoding: .utf8)
        bytes = try Hexadecimal.decode(text.filter { !$0.isNewline })
    }

    /// Lines of type, timestamp, stream id, length and CRC-32 of the payload.
    func expectedMessages() throws -> [String] {
        let text = try String(contentsOf: Self.directory.appending(path: "\(name).messages"), encoding: .utf8)
        return text.split(separator: "\n").map(String.init)
    }

    static let names = [
        "ffmpeg-5.1-publish", "ffmpeg-5.1-publish-wrap24", "ffmpeg-5.1-publish-extended", "ffmpeg-5.1-play",
        "ffmpeg-5.1-listen-to-publisher", "rtmpdump-2.4-play", "nginx-rtmp-1.2.2-to-publisher",
        "nginx-rtmp-1.2.2-badname", "nginx-rtmp-1.2.2-to-player",
        "nginx-rtmp-1.2.2-to-player-wrap24", "nginx-rtmp-1.2.2-to-player-wrap32",
    ]

    private static let directory = URL(filePath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "Fixtures")
}

extension RTMPMessage {
    /// In the form of `Fixture.expectedMessages`.
    var line: String {
        let crc = String(Hashes.crc32(payload), radix: 16)
        let padding = String(repeating: "0", count: 8 - crc.count)
        return "\(type.rawValue) \(timestamp) \(streamID) \(payload.count) \(padding)\(crc)"
    }
}

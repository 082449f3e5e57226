internal import Cryptography
internal import FoundationEssentials
public import Media
internal import Wire

/// One line of JSON for each access unit that was opened, to be compared with the camera's.
public final class FrameLogSink: MediaSink {
    private struct Line: Encodable {
        var track: String
        var dts: Int64
        var cts: Int64
        var key: Bool
        var bytes: Int
        var sha256: String
        var instant: UInt64
        var iv: UInt32
        var collection: String
    }

    private let file: AppendFile

    /// - Throws: when the file cannot be created.
    public init(path: String) throws(ViewerError) {
        file = try AppendFile(path: path)
    }

    public var abandon: @Sendable () -> Void { file.abandon }

    public func consume(_ event: MediaEvent, _ provenance: ViewerSession.Provenance?) throws(ViewerError) {
        guard case .accessUnit(let unit) = event, let provenance else { return }
        let line = Line(
            track: unit.track.isVideo ? "video" : "audio", dts: unit.decodeTime.milliseconds,
            cts: (unit.presentationTime - unit.decodeTime).milliseconds, key: unit.isKeyFrame, bytes: unit.data.count,
            sha256: Hexadecimal.encode(Digest.sha256(unit.data)), instant: provenance.instant, iv: provenance.counter,
            collection: Hexadecimal.encode(provenance.collection.prefix(4)))
        guard let json = try? JSONEncoder().encode(line) else { return }
        try file.write(Array(json) + [UInt8(ascii: "\n")])
    }

    public func finish() throws(ViewerError) {}
}

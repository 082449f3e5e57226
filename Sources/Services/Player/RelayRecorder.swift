internal import FLV

/// The relay's copy of a stream as an FLV file, byte for byte as it came, still sealed: what whoever runs the relay has.
/// Used by one thread at a time.
final class RelayRecorder {
    private let file: AppendFile

    init(path: String) throws(ViewerError) {
        file = try AppendFile(path: path)
        try file.write(FLVFileWriter.header(hasVideo: true, hasAudio: true))
    }

    var abandon: @Sendable () -> Void { file.abandon }

    /// A body that is too long for a tag of an FLV file is left out; RTMP allows it, no relay sends it.
    func write(type: UInt8, timestamp: UInt32, body: [UInt8]) throws(ViewerError) {
        var bytes: [UInt8] = []
        do throws(FLVError) {
            try FLVFileWriter.append(FLVTag(type: type, timestamp: timestamp, body: body), to: &bytes)
        } catch {
            return
        }
        try file.write(bytes)
    }
}

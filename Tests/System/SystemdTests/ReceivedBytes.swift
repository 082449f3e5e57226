import Synchronization

/// What a stand-in got, for the test to look at.
final class ReceivedBytes: Sendable {
    private let bytes = Mutex<[UInt8]>([])

    /// True when the message is complete: a NUL came.
    func append(_ part: ArraySlice<UInt8>) -> Bool {
        bytes.withLock { bytes in
            bytes += part
            return part.contains(0)
        }
    }

    var text: String { bytes.withLock { String(decoding: $0, as: UTF8.self) } }
}

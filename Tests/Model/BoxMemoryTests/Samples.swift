import BoxMemory
import Foundation

/// A memory in a directory of its own, gone after `body`.
func withMemory(_ body: (BoxMemory) throws -> Void) throws {
    try withTemporaryDirectory { try body(try BoxMemory(path: $0 + "/state.db")) }
}

func profile(_ id: String) -> StreamProfile {
    StreamProfile(
        id: id, name: id, source: "rtsp://192.0.2.1/\(id)", width: 1280, height: 720, rate: 25, codec: "h264")
}

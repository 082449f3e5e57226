internal import RTSP

/// What the headers of a part say, as far as it matters.
struct PartHeaders: Equatable, Sendable {
    /// Nil: not said, or of no use.
    private(set) var length: Int?
    /// Its Content-Type; nil: not said.
    private(set) var type: String?
    /// It does not say that it is something else.
    private(set) var isPicture = true
    private(set) var size = 0
    private var count = 0

    mutating func add(_ line: ArraySlice<UInt8>, size bytes: Int) throws(RTSPFailure) {
        count += 1
        size += bytes
        guard count <= MultipartReader.maxHeaders else {
            throw .tooLong(what: "headers of a part", limit: MultipartReader.maxHeaders)
        }
        guard size <= MultipartReader.maxHeadersLength else {
            throw .tooLong(what: "bytes of a part's headers", limit: MultipartReader.maxHeadersLength)
        }
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { return }
        let name = CameraText.trimmed(String(decoding: line[..<colon], as: UTF8.self)).lowercased()
        let value = CameraText.trimmed(String(decoding: line[(colon + 1)...], as: UTF8.self)).lowercased()
        switch name {
        case "content-length":
            let number = CameraText.number(value, as: Int.self)
            length = number.flatMap { $0 > 0 && $0 <= MultipartReader.maxFrameBytes ? $0 : nil }
        case "content-type":
            type = CameraText.printable(value, limit: 32)
            // Its first bytes show whether it is one.
            isPicture = ["image/", "application/octet-stream"].contains { value.hasPrefix($0) } || value.isEmpty
        default: break
        }
    }
}

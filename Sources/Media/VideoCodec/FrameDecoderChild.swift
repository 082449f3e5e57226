internal import CAVCodec
internal import FoundationEssentials
public import Media
internal import Platform

/// Makes a JPEG of an encoded key frame in a process of its own: what a camera on the network sends is decoded where it
/// can break nothing, and the decoder's memory goes with it.
///
/// The child enters its sandbox and says so in a line, reads a `FrameRequest`, and writes the JPEG; when it cannot, it
/// writes a message and ends with status 1.
public struct FrameDecoderChild: Sendable {
    public var executable: String
    public var arguments: [String]
    public var deadline: Duration

    public init(
        executable: String = "/proc/self/exe", arguments: [String] = ["picture"], deadline: Duration = .seconds(10)
    ) {
        self.executable = executable
        self.arguments = arguments
        self.deadline = deadline
    }

    /// Blocks until the child ended, at most for the deadline and a little.
    ///
    /// - Parameter widest: pixels; nil: as large as it is.
    /// - Throws: `.frameFailed` with the reason.
    public func jpeg(
        of unit: AccessUnit, format: VideoFormat, maxWidth: Int? = nil
    ) throws(VideoCodecError) -> [UInt8] {
        let child: ChildProcess
        do {
            child = try ChildProcess(executable, [executable] + arguments, isSandboxed: true)
        } catch {
            throw .failed(call: "posix_spawn", code: -error.number, message: "\(error)")
        }
        let request = FrameRequest(unit: unit, format: format, maxWidth: maxWidth)
        switch child.output(of: request.encoded(), limit: Self.maxFrameBytes, within: deadline) {
        case .late: throw .frameFailed("the decoder did not end in time")
        case .tooLong: throw .frameFailed("the frame has more than \(Self.maxFrameBytes) bytes")
        case .ended(let status, var bytes):
            let report = DecoderSandbox.Report(takenFrom: &bytes)
            // Whatever it is, it was not made where it can break nothing.
            if report == nil, bytes.starts(with: [0xFF, 0xD8, 0xFF]) {
                throw .frameFailed("the decoder does not report its sandbox")
            }
            if let report, !report.isHeld { throw .frameFailed(report.lack ?? "the decoder is not held") }
            if let report { SandboxShortfall.note(report) }
            if status == 0, report != nil {
                guard Self.isJPEG(bytes, maxWidth: maxWidth) else {
                    throw .frameFailed("the decoder answered something other than a frame")
                }
                return bytes
            }
            if let status, status & 0x7F != 0 { throw .frameFailed("the decoder ended with signal \(status & 0x7F)") }
            // What it says after it has read the first byte may come from the camera.
            if report != nil { throw .frameFailed("the key frame cannot be decoded") }
            let message = bytes.printable
            throw .frameFailed(message.isEmpty ? "the decoder ended without a message" : message)
        }
    }

    /// A whole JPEG, of a size that was asked for: what a taken-over child sends goes on to those who look at the list.
    private static func isJPEG(_ bytes: [UInt8], maxWidth: Int?) -> Bool {
        guard bytes.suffix(2) == [0xFF, 0xD9] else { return false }
        let header = try? bytes.span.bytes.withUnsafeBytes { (bytes) throws(VideoCodecError) in try JPEGHeader(bytes) }
        guard let header, header.width * header.height <= FrameRequest.maxPixels else { return false }
        return header.width <= max(maxWidth ?? .max, 2)
    }

    /// Of one JPEG; 3840x2160 without any compression has 12.5 MB.
    static let maxFrameBytes = 8 << 20
}

/// What the child of a `FrameDecoderChild` reads: one line of JSON, the configuration record, the access unit.
public struct FrameRequest: Sendable {
    private struct Head: Codable {
        var codec: String
        var width: Int
        var height: Int
        var record: Int
        var unit: Int
        var maxWidth: Int?
    }

    /// Of a request in bytes; an access unit has at most 16 MiB.
    private static let maxLength = 20 << 20
    private static let maxHeadLength = 1024
    /// 4096x4096. What a frame says of its own size decides how much memory is taken for it.
    static let maxPixels = 1 << 24

    private let unit: AccessUnit
    private let format: VideoFormat
    private let maxWidth: Int?

    init(unit: AccessUnit, format: VideoFormat, maxWidth: Int? = nil) {
        self.unit = unit
        self.format = format
        self.maxWidth = maxWidth
    }

    /// - Throws: `.frameFailed` for an invalid request.
    public init(_ bytes: [UInt8]) throws(VideoCodecError) {
        guard let end = bytes.prefix(Self.maxHeadLength).firstIndex(of: 0x0A),
            let head = try? JSONDecoder().decode(Head.self, from: Data(bytes[..<end])),
            let codec = VideoCodec(rawValue: head.codec), (0...Self.maxLength).contains(head.record),
            (0...Self.maxLength).contains(head.unit), bytes.count == end + 1 + head.record + head.unit
        else { throw .frameFailed("the request is not as expected") }
        maxWidth = head.maxWidth
        let record = bytes[(end + 1)...].prefix(head.record)
        format = VideoFormat(
            codec: codec, width: head.width, height: head.height, frameRate: nil, configurationRecord: Array(record))
        unit = AccessUnit(
            track: .video(codec), isKeyFrame: true, presentationTime: .zero, decodeTime: .zero,
            data: Array(bytes[record.endIndex...]))
    }

    func encoded() -> [UInt8] {
        let head = Head(
            codec: format.codec.rawValue, width: format.width, height: format.height,
            record: format.configurationRecord.count, unit: unit.data.count, maxWidth: maxWidth)
        let line = (try? JSONEncoder().encode(head)) ?? Data()
        return Array(line) + [0x0A] + format.configurationRecord + unit.data
    }

    /// Loads what `jpeg()` needs: for a process that cannot open anything later.
    public static func prepare() throws(VideoCodecError) {
        try Libav.load(WB_LIBRARY_AVCODEC)
        try Libav.load(WB_LIBRARY_SWSCALE)
    }

    /// In this process.
    /// - Throws: also `.frameFailed` when the key frame holds no frame.
    public func jpeg() throws(VideoCodecError) -> [UInt8] {
        let decoder = try VideoDecoder(format, maxPixels: Self.maxPixels)
        let coder = JPEGEncoder()
        var jpeg: [UInt8]?
        let take = { (frame: borrowing VideoFrame, _: MediaTime) throws(VideoCodecError) in
            if jpeg == nil { jpeg = try coder.encode(frame, maxWidth: maxWidth) }
        }
        try decoder.decode(unit, take)
        try decoder.finish(take)
        if let jpeg { return jpeg }
        throw decoder.lastError ?? .frameFailed("the key frame holds none")
    }
}

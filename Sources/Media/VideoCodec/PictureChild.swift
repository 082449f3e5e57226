internal import CAVCodec
internal import FoundationEssentials
public import Media

/// Makes a JPEG of a coded key frame in a process of its own: what a camera on the network sends is decoded where it can
/// break nothing, and the decoder's memory goes with it.
///
/// The child enters its sandbox and says so in a line, reads a `PictureRequest`, and writes the JPEG; when it cannot, it writes
/// a sentence and ends with status 1.
public struct PictureChild: Sendable {
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
    /// - Throws: `.pictureFailed` with the reason.
    public func jpeg(
        of unit: AccessUnit, format: VideoFormat, widest: Int? = nil
    ) throws(VideoCodecError) -> [UInt8] {
        let child: ChildProcess
        do {
            child = try ChildProcess(executable, [executable] + arguments, isSandboxed: true)
        } catch {
            throw .failed(call: "posix_spawn", code: -error.number, message: "\(error)")
        }
        let request = PictureRequest(unit: unit, format: format, widest: widest)
        switch child.output(of: request.encoded(), limit: Self.longestPicture, within: deadline) {
        case .late: throw .pictureFailed("the decoder did not end in time")
        case .tooLong: throw .pictureFailed("the picture has more than \(Self.longestPicture) bytes")
        case .ended(let status, var bytes):
            let report = DecoderSandbox.Report(takenFrom: &bytes)
            // Whatever it is, it was not made where it can break nothing.
            if report == nil, bytes.starts(with: [0xFF, 0xD8, 0xFF]) {
                throw .pictureFailed("the decoder says nothing of its sandbox")
            }
            if let report, !report.isHeld { throw .pictureFailed(report.lack ?? "the decoder is not held") }
            if let report { SandboxShortfall.note(report) }
            if status == 0, report != nil {
                guard Self.isPicture(bytes, widest: widest) else {
                    throw .pictureFailed("the decoder answered something else than a picture")
                }
                return bytes
            }
            if let status, status & 0x7F != 0 { throw .pictureFailed("the decoder ended with signal \(status & 0x7F)") }
            // What it says after it has read the first byte may be the camera's words.
            if report != nil { throw .pictureFailed("the key frame cannot be decoded") }
            let sentence = bytes.printable
            throw .pictureFailed(sentence.isEmpty ? "the decoder ended without a word" : sentence)
        }
    }

    /// A whole JPEG, of a size that was asked for: what a taken-over child sends goes on to those who look at the list.
    private static func isPicture(_ bytes: [UInt8], widest: Int?) -> Bool {
        guard bytes.suffix(2) == [0xFF, 0xD9] else { return false }
        let header = try? bytes.span.bytes.withUnsafeBytes { (bytes) throws(VideoCodecError) in try JPEGHeader(bytes) }
        guard let header, header.width * header.height <= PictureRequest.mostPixels else { return false }
        return header.width <= max(widest ?? .max, 2)
    }

    /// Of one JPEG; 3840x2160 without any compression has 12.5 MB.
    static let longestPicture = 8 << 20
}

/// What the child of a `PictureChild` reads: one line of JSON, the configuration record, the access unit.
public struct PictureRequest: Sendable {
    private struct Head: Codable {
        var codec: String
        var width: Int
        var height: Int
        var record: Int
        var unit: Int
        var widest: Int?
    }

    /// Of a request in bytes; an access unit has at most 16 MiB.
    private static let longest = 20 << 20
    private static let longestHead = 1024
    /// 4096x4096. What a picture says of its own size decides how much memory is taken for it.
    static let mostPixels = 1 << 24

    private let unit: AccessUnit
    private let format: VideoFormat
    private let widest: Int?

    init(unit: AccessUnit, format: VideoFormat, widest: Int? = nil) {
        self.unit = unit
        self.format = format
        self.widest = widest
    }

    /// - Throws: `.pictureFailed` for what is no request.
    public init(_ bytes: [UInt8]) throws(VideoCodecError) {
        guard let end = bytes.prefix(Self.longestHead).firstIndex(of: 0x0A),
            let head = try? JSONDecoder().decode(Head.self, from: Data(bytes[..<end])),
            let codec = VideoCodec(rawValue: head.codec), (0...Self.longest).contains(head.record),
            (0...Self.longest).contains(head.unit), bytes.count == end + 1 + head.record + head.unit
        else { throw .pictureFailed("the request is not as expected") }
        widest = head.widest
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
            record: format.configurationRecord.count, unit: unit.data.count, widest: widest)
        let line = (try? JSONEncoder().encode(head)) ?? Data()
        return Array(line) + [0x0A] + format.configurationRecord + unit.data
    }

    /// Loads what `jpeg()` needs: for a process that cannot open anything later.
    public static func prepare() throws(VideoCodecError) {
        try Libav.load(WB_LIBRARY_AVCODEC)
        try Libav.load(WB_LIBRARY_SWSCALE)
    }

    /// In this process.
    /// - Throws: also `.pictureFailed` when the key frame holds no picture.
    public func jpeg() throws(VideoCodecError) -> [UInt8] {
        let decoder = try VideoDecoder(format, mostPixels: Self.mostPixels)
        let coder = JPEGEncoder()
        var jpeg: [UInt8]?
        let take = { (picture: borrowing RawPicture, _: MediaTime) throws(VideoCodecError) in
            if jpeg == nil { jpeg = try coder.encode(picture, widest: widest) }
        }
        try decoder.decode(unit, take)
        try decoder.finish(take)
        if let jpeg { return jpeg }
        throw decoder.lastError ?? .pictureFailed("the key frame holds none")
    }
}

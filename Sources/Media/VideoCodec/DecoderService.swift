internal import CAVCodec
internal import Glibc

/// A decoding child's own side: libav is loaded, the sandbox is entered, and only then the first byte is read. It
/// answers one request after the other until its parent is gone.
public enum DecoderService {
    /// Descriptor of the memory for frames.
    private static let memoryPlace: Int32 = 3

    /// - Throws: a message that was sent to the parent.
    public static func run(_ role: DecoderRole) throws {
        do {
            switch role {
            case .frames(let memory): try decodeFrames(memory)
            case .audio(let coding): try decodeAudio(coding)
            }
        } catch {
            send(Array("\(error)".utf8.prefix(300)))
            throw error
        }
    }

    private static func decodeFrames(_ count: Int) throws {
        guard (SharedFrames.Layout.jpegBytes...1 << 30).contains(count), let room = Mapping(memoryPlace, count: count)
        else { throw VideoCodecError.frameFailed("no memory for frames") }
        let filling = try FrameFilling()
        try enter(memory: DecoderSandbox.Limits.frames)
        serve { (request) throws(VideoCodecError) in
            guard let words = DecoderMessage.words(request, count: 5) else {
                throw .frameFailed("the request is not as expected")
            }
            let layout = try SharedFrames.Layout(width: Int(words[3]), height: Int(words[4]))
            guard words[1] < SharedFrames.Layout.places, Int(words[2]) <= SharedFrames.Layout.jpegBytes,
                layout.total <= room.bytes.count
            else { throw .frameFailed("the request is not as expected") }
            let place = UnsafeMutableRawBufferPointer(rebasing: room.bytes[layout.range(ofPlace: Int(words[1]))])
            let target = try SharedFrames.frame(in: place, layout) {}
            let jpeg = UnsafeRawBufferPointer(rebasing: room.bytes[0..<Int(words[2])])
            try filling.fill(target, from: jpeg)
            return []
        }
    }

    private static func decodeAudio(_ coding: AudioEncoding) throws {
        let codec = try AudioDecoding(coding)
        try enter(memory: DecoderSandbox.Limits.audio)
        serve { (request) throws(VideoCodecError) in try codec.decode(request.dropFirst(4)) }
    }

    /// Below the priority of the thread that receives: no one ends one that works without being asked.
    private static func enter(memory: Int) throws {
        let report = try DecoderSandbox.enter(DecoderSandbox.Limits(memory: memory, niceness: 5))
        send(report.line)
    }

    /// - Parameter answer: gets a request, and gives what follows sequence number and status.
    private static func serve(_ answer: (ArraySlice<UInt8>) throws(VideoCodecError) -> [UInt8]) {
        var buffer = [UInt8](repeating: 0, count: AudioDecoder.maxPacketLength + 64)
        while true {
            let count = read(STDIN_FILENO, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 4, let sequence = DecoderMessage.words(buffer[0..<count], count: 1)?.first else { return }
            do throws(VideoCodecError) {
                send(DecoderMessage.encode([sequence, 0], try answer(buffer[0..<count])[...]))
            } catch {
                send(DecoderMessage.encode([sequence, 1], Array("\(error)".utf8.prefix(200))[...]))
            }
        }
    }

    private static func send(_ message: [UInt8]) {
        var count = write(STDOUT_FILENO, message, message.count)
        while count < 0, errno == EINTR { count = write(STDOUT_FILENO, message, message.count) }
    }
}

/// Decodes JPEG images into what encoders take: YUV 4:2:0, television's range, BT.601.
final class FrameFilling {
    private let decoder = JPEGDecoder(maxPixels: FrameRequest.maxPixels)
    private let scaler: FrameScaler

    init() throws(VideoCodecError) {
        try decoder.prepare()
        scaler = try FrameScaler(method: .fast)
    }

    func fill(_ target: borrowing VideoFrame, from jpeg: UnsafeRawBufferPointer) throws(VideoCodecError) {
        let frame = try decoder.decode(jpeg)
        let hasMatrix = !frame.pixelFormat.isRGB && frame.pixelFormat != .gray8
        let isSame =
            frame.width == target.width && frame.height == target.height && frame.isFullRange
            && FullRangeConversion.target(of: frame.pixelFormat) == target.pixelFormat
        // Every JPEG with colours has this matrix (JFIF).
        if hasMatrix { frame.matrix = .bt601 }
        if isSame {
            try FullRangeConversion.convert(frame, into: target)
        } else {
            try scaler.scale(frame, into: target)
        }
    }
}

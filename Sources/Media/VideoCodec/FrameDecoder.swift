internal import Platform

/// Turns a camera's JPEG images into pixels in a child without files, network and secrets. Used by one thread, which
/// also must be the one that made it: the child ends with its maker.
///
/// Of what the child says only "decoded" or "damaged" is taken; sizes, places and formats are this process's own.
public final class FrameDecoder {
    /// Of what comes out, in pixels; frames of another size are scaled.
    public var width: Int { room.layout.width }
    public var height: Int { room.layout.height }
    public let report: DecoderSandbox.Report
    /// Of the child, for tests.
    let process: Int32

    private let room: SharedFrames
    private let child: ChildProcess
    private let deadline: Duration
    private let isStopped: () -> Bool
    private var sequence: UInt32 = 0
    private var buffer = [UInt8](repeating: 0, count: 512)

    /// - Parameter width: and `height`: even, at most 2^24 pixels.
    /// - Parameter isStopped: looked at while the child is waited for, ten times a second.
    /// - Throws: `.lost`.
    public init(
        _ program: DecoderProgram = DecoderProgram(), width: Int, height: Int,
        isStopped: @escaping () -> Bool = { false }
    ) throws(DecoderFault) {
        let layout: SharedFrames.Layout
        do throws(VideoCodecError) {
            layout = try SharedFrames.Layout(width: width, height: height)
        } catch {
            throw .lost("\(error)")
        }
        room = try SharedFrames(layout)
        // The child learns the frame's size with each request; the memory's here.
        let (child, report) = try program.start(
            .frames(memory: layout.total), memory: room.descriptor, isStopped: isStopped)
        self.child = child
        self.report = report
        self.isStopped = isStopped
        process = child.process
        deadline = program.deadline
    }

    /// Decodes one JPEG.
    ///
    /// - Returns: YUV 4:2:0 in television's range, BT.601, in memory that the child shares: for an encoder, which
    ///   copies.
    /// - Throws: after `.lost` it is of no use any more.
    public func decode(_ jpeg: [UInt8]) throws(DecoderFault) -> VideoFrame {
        do throws(VideoCodecError) {
            try Self.check(jpeg)
        } catch {
            throw .damaged("\(error)")
        }
        guard let place = room.take() else { throw .busy }
        do throws(DecoderFault) {
            try room.put(jpeg)
            sequence &+= 1
            let request = [sequence, UInt32(place), UInt32(jpeg.count), UInt32(width), UInt32(height)]
            guard child.send(message: DecoderMessage.encode(request)) else { throw lost("did not take its request") }
            guard let answer = child.receive(into: &buffer, within: deadline, isStopped: isStopped) else {
                throw lost()
            }
            // One that answers for an earlier frame has lost count.
            guard let words = DecoderMessage.words(answer, count: 2), words[DecoderMessage.sequencePlace] == sequence
            else { throw DecoderFault.nonsense }
            guard words[DecoderMessage.statusPlace] == 0 else {
                throw .damaged(Array(answer.dropFirst(8)).printable)
            }
        } catch {
            room.giveBack(place)
            throw error
        }
        do throws(VideoCodecError) {
            // It gives the place back in any case.
            return try room.frame(at: place)
        } catch {
            throw .damaged("\(error)")
        }
    }

    /// What the frame says of its size is looked at here as well: it decides what is encoded.
    ///
    /// - Throws: `.malformedFrame` for more than 2^24 pixels, and for anything but a JPEG.
    public static func check(_ jpeg: [UInt8]) throws(VideoCodecError) {
        let header = try jpeg.span.bytes.withUnsafeBytes { (bytes) throws(VideoCodecError) in try JPEGHeader(bytes) }
        guard header.width * header.height <= FrameRequest.maxPixels else {
            throw .malformedFrame("it declares \(header.width)x\(header.height) pixels, more than 4096x4096")
        }
    }

    private func lost(_ words: String = "did not answer in time") -> DecoderFault {
        if isStopped() { return .lost("stopped") }
        let ending = child.ending(isStopped: isStopped)
        return .lost(ending.map { "the decoder ended with \($0)" } ?? "the decoder \(words)")
    }
}

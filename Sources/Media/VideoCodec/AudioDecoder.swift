internal import CAVCodec
internal import Platform

/// Turns packets of audio into samples in a child without files, network and secrets. Used by one thread, which must also
/// be the one that made it.
public final class AudioDecoder {
    public let coding: AudioEncoding
    public let report: DecoderSandbox.Report

    private let child: ChildProcess
    private let deadline: Duration
    private let isStopped: () -> Bool
    private var sequence: UInt32 = 0
    private var buffer = [UInt8](repeating: 0, count: 8 + maxSamples * 2)

    /// Of a packet: no camera sends longer ones.
    public static let maxPacketLength = 8 << 10
    /// Of all channels of one packet: 120 ms of Opus in stereo have 11 520, G.726 at 16 kbit/s has four for each byte.
    static let maxSamples = maxPacketLength * 4

    /// - Throws: `.lost`.
    public init(
        _ coding: AudioEncoding, program: DecoderProgram = DecoderProgram(), isStopped: @escaping () -> Bool = { false }
    ) throws(DecoderFault) {
        self.coding = coding
        let (child, report) = try program.start(.audio(coding), isStopped: isStopped)
        self.child = child
        self.report = report
        self.isStopped = isStopped
        deadline = program.deadline
    }

    /// Decodes one packet.
    ///
    /// - Returns: samples of −1…1, the channels of one instant side by side.
    /// - Throws: after `.lost` it is of no use any more.
    public func decode(_ packet: [UInt8]) throws(DecoderFault) -> [Float] {
        guard !packet.isEmpty, packet.count <= Self.maxPacketLength else { throw .damaged("\(packet.count) bytes") }
        sequence &+= 1
        guard child.send(message: DecoderMessage.encode([sequence], packet[...])) else {
            throw lost("did not take its request")
        }
        guard let answer = child.receive(into: &buffer, within: deadline, isStopped: isStopped) else { throw lost() }
        guard let words = DecoderMessage.words(answer, count: 2), words[DecoderMessage.sequencePlace] == sequence
        else { throw .nonsense }
        guard words[DecoderMessage.statusPlace] == 0 else { throw .damaged(Array(answer.dropFirst(8)).printable) }
        let bytes = answer.dropFirst(8)
        guard bytes.count.isMultiple(of: 2 * coding.channels) else { throw .damaged("half a sample") }
        return stride(from: bytes.startIndex, to: bytes.endIndex, by: 2).map { index in
            Float(Int16(bitPattern: UInt16(bytes[index]) | UInt16(bytes[index + 1]) << 8)) / 32_768
        }
    }

    private func lost(_ words: String = "did not answer in time") -> DecoderFault {
        if isStopped() { return .lost("stopped") }
        let ending = child.ending(isStopped: isStopped)
        return .lost(ending.map { "the decoder ended with \($0)" } ?? "the decoder \(words)")
    }
}

/// libavcodec's side of it, in the child.
final class AudioDecoding {
    private let coding: AudioEncoding
    private let codecContext: CodecContext

    init(_ coding: AudioEncoding) throws(VideoCodecError) {
        self.coding = coding
        try Libav.load(WB_LIBRARY_AVCODEC)
        guard let codec = wb_avcodec_find_decoder_by_name(coding.decoder) else { throw .noDecoder(coding.decoder) }
        codecContext = try CodecContext(codec)
        codecContext.context.pointee.thread_count = 1
        codecContext.context.pointee.sample_rate = Int32(coding.sampleRate)
        codecContext.context.pointee.bits_per_coded_sample = Int32(coding.bitsPerSample)
        wb_av_channel_layout_default(&codecContext.context.pointee.ch_layout, Int32(coding.channels))
        try codecContext.open()
    }

    /// Samples of 16 bits, little-endian, the channels of one instant side by side.
    func decode(_ packet: ArraySlice<UInt8>) throws(VideoCodecError) -> [UInt8] {
        try codecContext.fillPacket(Array(packet))
        guard case .taken = codecContext.send(packet: codecContext.packet) else {
            throw .malformedOutput("a packet of audio: \(Libav.takeLog())")
        }
        var samples: [UInt8] = []
        while try codecContext.receiveFrame(into: codecContext.avFrame) {
            defer { wb_av_frame_unref(codecContext.avFrame) }
            try append(codecContext.avFrame, to: &samples)
        }
        return samples
    }

    private func append(_ avFrame: UnsafeMutablePointer<AVFrame>, to samples: inout [UInt8]) throws(VideoCodecError) {
        let found = Int(avFrame.pointee.ch_layout.nb_channels)
        let count = Int(avFrame.pointee.nb_samples)
        guard avFrame.pointee.sample_rate == Int32(coding.sampleRate), (1...2).contains(found), count >= 0,
            samples.count / 2 + count * coding.channels <= AudioDecoder.maxSamples,
            let first = avFrame.pointee.data.0
        else { throw .malformedOutput("audio of an unexpected kind") }
        let format = AVSampleFormat(rawValue: avFrame.pointee.format)
        let isPlanar = format == AV_SAMPLE_FMT_FLTP || format == AV_SAMPLE_FMT_S16P
        let second = isPlanar && found > 1 ? avFrame.pointee.data.1 ?? first : first
        for index in 0..<count {
            for channel in 0..<coding.channels {
                let source = min(channel, found - 1)
                let plane = source == 0 ? first : second
                let place = isPlanar ? index : index * found + source
                let value: Int16
                switch format {
                case AV_SAMPLE_FMT_FLTP, AV_SAMPLE_FMT_FLT:
                    let sample = UnsafeRawPointer(plane).load(fromByteOffset: place * 4, as: Float.self)
                    value = sample.isFinite ? Int16(clamping: Int(max(-2, min(2, sample)) * 32_768)) : 0
                case AV_SAMPLE_FMT_S16, AV_SAMPLE_FMT_S16P:
                    value = UnsafeRawPointer(plane).load(fromByteOffset: place * 2, as: Int16.self)
                default: throw .malformedOutput("audio of an unexpected format")
                }
                samples.append(UInt8(truncatingIfNeeded: value))
                samples.append(UInt8(truncatingIfNeeded: value >> 8))
            }
        }
    }
}

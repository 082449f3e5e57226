package import CAVCodec

/// An AVCodecContext with the packet and frame that it works with; freed together.
///
/// Used by one thread at a time: the encoder classes that own one are not Sendable.
package final class CodecContext {
    package let context: UnsafeMutablePointer<AVCodecContext>
    package let packet: UnsafeMutablePointer<AVPacket>
    package let avFrame: UnsafeMutablePointer<AVFrame>

    /// No packets come out any more.
    package private(set) var isAtEnd = false

    /// What an encoder did with what it was given.
    package enum Outcome: Equatable {
        case taken
        /// Its output must be fetched first.
        case full
        case failed(VideoCodecError)
    }

    /// Of libavcodec, which is loaded here. The context is not opened yet.
    package init(_ codec: UnsafePointer<AVCodec>) throws(VideoCodecError) {
        var context = wb_avcodec_alloc_context3(codec)
        var packet = wb_av_packet_alloc()
        var avFrame = wb_av_frame_alloc()
        guard let context, let packet, let avFrame else {
            wb_avcodec_free_context(&context)
            wb_av_packet_free(&packet)
            wb_av_frame_free(&avFrame)
            throw .failed(call: "avcodec_alloc_context3", code: wb_averror(ENOMEM), message: "out of memory")
        }
        self.context = context
        self.packet = packet
        self.avFrame = avFrame
    }

    deinit {
        var context: UnsafeMutablePointer<AVCodecContext>? = context
        var packet: UnsafeMutablePointer<AVPacket>? = packet
        var avFrame: UnsafeMutablePointer<AVFrame>? = avFrame
        wb_avcodec_free_context(&context)
        wb_av_packet_free(&packet)
        wb_av_frame_free(&avFrame)
    }

    /// A decoder for what a container declares.
    package static func decoder(
        _ parameters: UnsafePointer<AVCodecParameters>
    ) throws(VideoCodecError) -> CodecContext {
        try Libav.load(WB_LIBRARY_AVCODEC)
        let context = try unopenedDecoder(parameters.pointee.codec_id)
        try Libav.check(
            wb_avcodec_parameters_to_context(context.context, parameters), "avcodec_parameters_to_context")
        try context.open()
        return context
    }

    package static func unopenedDecoder(_ id: AVCodecID) throws(VideoCodecError) -> CodecContext {
        try Libav.load(WB_LIBRARY_AVCODEC)
        guard let codec = wb_avcodec_find_decoder(id) else {
            throw .noDecoder(String(cString: wb_avcodec_get_name(id)))
        }
        return try CodecContext(codec)
    }

    /// Opens the encoder. Options that it does not know are ignored.
    package func open(_ options: [(name: String, value: String)] = []) throws(VideoCodecError) {
        var dictionary: OpaquePointer?
        defer { wb_av_dict_free(&dictionary) }
        for option in options { _ = wb_av_dict_set(&dictionary, option.name, option.value, 0) }
        Libav.takeLog()
        try Libav.check(wb_avcodec_open2(context, nil, &dictionary), "avcodec_open2")
    }

    /// Copies `bytes` into memory that libavcodec owns, with the padding that its parsers read beyond the end.
    package func setExtradata(_ bytes: [UInt8]) throws(VideoCodecError) {
        guard bytes.count <= Self.maxExtradataLength else {
            throw .malformedOutput("\(bytes.count) bytes of codec configuration")
        }
        wb_av_freep(&context.pointee.extradata)
        context.pointee.extradata_size = 0
        guard let copy = Libav.paddedCopy(of: bytes) else {
            throw .failed(call: "av_mallocz", code: wb_averror(ENOMEM), message: "out of memory")
        }
        context.pointee.extradata = copy
        context.pointee.extradata_size = Int32(bytes.count)
    }

    package var extradata: [UInt8] {
        let count = Int(context.pointee.extradata_size)
        guard count > 0, let bytes = context.pointee.extradata else { return [] }
        return Array(UnsafeBufferPointer(start: bytes, count: count))
    }

    /// Configuration that came with `packet`; empty when there is none.
    package var newExtradata: [UInt8] {
        var count = 0
        guard let bytes = wb_av_packet_get_side_data(packet, AV_PKT_DATA_NEW_EXTRADATA, &count),
            (1...Self.maxExtradataLength).contains(count)
        else { return [] }
        return Array(UnsafeBufferPointer(start: bytes, count: count))
    }

    /// Nil for `frame` ends the input.
    package func send(avFrame: UnsafePointer<AVFrame>?) -> Outcome {
        Libav.takeLog()
        return outcome(wb_avcodec_send_frame(context, avFrame), "avcodec_send_frame")
    }

    /// Nil for `packet` ends the input.
    package func send(packet: UnsafePointer<AVPacket>?) -> Outcome {
        Libav.takeLog()
        return outcome(wb_avcodec_send_packet(context, packet), "avcodec_send_packet")
    }

    /// Fills `packet` with a copy of `bytes`.
    package func fillPacket(_ bytes: [UInt8]) throws(VideoCodecError) {
        wb_av_packet_unref(packet)
        guard let count = Int32(exactly: bytes.count), count < Int32.max - 64 else {
            throw .malformedOutput("an access unit of \(bytes.count) bytes")
        }
        try Libav.check(wb_av_new_packet(packet, count), "av_new_packet")
        bytes.withUnsafeBufferPointer { source in
            if let base = source.baseAddress { packet.pointee.data.update(from: base, count: source.count) }
        }
    }

    /// Fetches the next encoded packet into `packet`; false when there is none yet, or none any more.
    package func receivePacket() throws(VideoCodecError) -> Bool {
        let code = wb_avcodec_receive_packet(context, packet)
        if code == wb_averror_eof() { isAtEnd = true }
        if code == wb_averror(EAGAIN) || code == wb_averror_eof() { return false }
        try Libav.check(code, "avcodec_receive_packet")
        return true
    }

    /// Fetches the next decoded frame into `frame`; false when there is none yet, or none any more.
    package func receiveFrame(into avFrame: UnsafeMutablePointer<AVFrame>) throws(VideoCodecError) -> Bool {
        let code = wb_avcodec_receive_frame(context, avFrame)
        if code == wb_averror(EAGAIN) || code == wb_averror_eof() { return false }
        try Libav.check(code, "avcodec_receive_frame")
        return true
    }

    private static let maxExtradataLength = 1 << 20

    private func outcome(_ code: Int32, _ call: String) -> Outcome {
        if code >= 0 { return .taken }
        if code == wb_averror(EAGAIN) { return .full }
        return .failed(.failed(call: call, code: code, message: Libav.message(for: code)))
    }
}

extension Libav {
    /// A copy that ends in zeros, which libav's bit readers may read; to be freed by libav. Nil when memory is short.
    package static func paddedCopy(of bytes: [UInt8]) -> UnsafeMutablePointer<UInt8>? {
        guard let memory = wb_av_mallocz(bytes.count + Int(AV_INPUT_BUFFER_PADDING_SIZE)) else { return nil }
        let copy = memory.bindMemory(to: UInt8.self, capacity: bytes.count + Int(AV_INPUT_BUFFER_PADDING_SIZE))
        bytes.withUnsafeBufferPointer { source in
            if let base = source.baseAddress { copy.update(from: base, count: source.count) }
        }
        return copy
    }
}

internal import CAVCodec

/// Changes the size and the pixel format of frames (libswscale). Used by one thread at a time.
public final class FrameScaler {
    private var context: OpaquePointer?
    private var configured: Conversion?

    private struct Conversion: Equatable {
        var source: Side
        var target: Side
        struct Side: Equatable {
            var width: Int32
            var height: Int32
            var format: Int32
            var colorSpace: Int32
            var isFullRange: Bool
        }
    }

    /// What a frame is worth.
    public enum Method: Equatable, Sendable {
        /// Bicubic: for frames that a person will look at.
        case sharp
        /// Bilinear: a third less work, for thirty frames a second on a small processor.
        case fast
    }

    private let method: Method

    public init(method: Method = .sharp) throws(VideoCodecError) {
        self.method = method
        try Libav.load(WB_LIBRARY_SWSCALE)
    }

    deinit {
        wb_sws_freeContext(context)
    }

    /// A new frame with the content of `frame`, stretched to `width` and `height`; colours follow the matrix and
    /// the range that `frame` declares.
    public func scale(
        _ frame: borrowing VideoFrame, width: Int, height: Int, pixelFormat: PixelFormat
    ) throws(VideoCodecError) -> VideoFrame {
        let scaled = try VideoFrame(width: width, height: height, pixelFormat: pixelFormat)
        try Libav.check(wb_av_frame_copy_props(scaled.avFrame, frame.avFrame), "av_frame_copy_props")
        if pixelFormat == .rgb24 {
            scaled.avFrame.pointee.colorspace = AVCOL_SPC_RGB
            scaled.isFullRange = true
        }
        try scale(frame, into: scaled)
        return scaled
    }

    /// Fills `target`, in the matrix and the range that it declares.
    ///
    /// - Returns: passes over all pixels: 1, or 2 where the frame had to be copied before.
    @discardableResult
    func scale(_ frame: borrowing VideoFrame, into target: borrowing VideoFrame) throws(VideoCodecError) -> Int {
        if !frame.isReadableBeyondEnd {
            try scaleReadable(frame.copyReadableBeyondEnd(), into: target)
            return 2
        }
        try scaleReadable(frame, into: target)
        return 1
    }

    private func scaleReadable(
        _ frame: borrowing VideoFrame, into target: borrowing VideoFrame
    ) throws(VideoCodecError) {
        try configure(Conversion(source: side(frame), target: side(target)))
        let planes = frame.avFrame.pointee.data
        let targetPlanes = target.avFrame.pointee.data
        let strides = frame.avFrame.pointee.linesize
        let targetStrides = target.avFrame.pointee.linesize
        let rows = wb_sws_scale(
            context,
            [UnsafePointer(planes.0), UnsafePointer(planes.1), UnsafePointer(planes.2), UnsafePointer(planes.3)],
            [strides.0, strides.1, strides.2, strides.3], 0, frame.avFrame.pointee.height,
            [targetPlanes.0, targetPlanes.1, targetPlanes.2, targetPlanes.3],
            [targetStrides.0, targetStrides.1, targetStrides.2, targetStrides.3])
        try Libav.check(rows, "sws_scale")
    }

    private func side(_ frame: borrowing VideoFrame) -> Conversion.Side {
        Conversion.Side(
            width: frame.avFrame.pointee.width, height: frame.avFrame.pointee.height,
            format: frame.avFrame.pointee.format, colorSpace: Int32(frame.avFrame.pointee.colorspace.rawValue),
            isFullRange: frame.isFullRange)
    }

    private func configure(_ conversion: Conversion) throws(VideoCodecError) {
        guard conversion != configured else { return }
        let source = AVPixelFormat(rawValue: conversion.source.format)
        configured = nil
        // libswscale ends the process when it is asked for a format that it does not know.
        guard wb_sws_isSupportedInput(source) > 0 else {
            throw .failed(call: "sws_isSupportedInput", code: 0, message: "this pixel format cannot be scaled")
        }
        wb_sws_freeContext(context)
        context = wb_sws_alloc_context()
        guard let context else {
            throw .failed(call: "sws_alloc_context", code: wb_averror(ENOMEM), message: "out of memory")
        }
        // The ranges must be known from the start: a conversion between equal formats is a mere copy otherwise.
        let options: [(name: String, value: Int32)] = [
            ("srcw", conversion.source.width), ("srch", conversion.source.height),
            ("src_format", conversion.source.format), ("src_range", conversion.source.isFullRange ? 1 : 0),
            ("dstw", conversion.target.width), ("dsth", conversion.target.height),
            ("dst_format", conversion.target.format), ("dst_range", conversion.target.isFullRange ? 1 : 0),
            ("sws_flags", method == .sharp ? SWS_BICUBIC : SWS_BILINEAR),
        ]
        for option in options {
            let code = wb_av_opt_set_int(UnsafeMutableRawPointer(context), option.name, Int64(option.value), 0)
            try Libav.check(code, "av_opt_set_int")
        }
        guard wb_sws_init_context(context, nil, nil) >= 0 else {
            throw .failed(call: "sws_init_context", code: 0, message: "this conversion is not supported")
        }
        // Refused by conversions between equal formats, which need no matrix.
        _ = wb_sws_setColorspaceDetails(
            context, wb_sws_getCoefficients(matrix(conversion.source)), conversion.source.isFullRange ? 1 : 0,
            wb_sws_getCoefficients(matrix(conversion.target)), conversion.target.isFullRange ? 1 : 0,
            0, 1 << 16, 1 << 16)
        configured = conversion
    }

    /// What players assume where nothing is declared: BT.709 for high definition, BT.601 below.
    private func matrix(_ side: Conversion.Side) -> Int32 {
        let space = AVColorSpace(rawValue: numericCast(side.colorSpace))
        if space == AVCOL_SPC_UNSPECIFIED || space == AVCOL_SPC_RGB {
            return side.height >= 720 ? SWS_CS_ITU709 : SWS_CS_ITU601
        }
        return side.colorSpace
    }
}

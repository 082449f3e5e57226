internal import CAVCodec

/// Changes the size and the pixel format of pictures (libswscale). Used by one thread at a time.
public final class PictureScaler {
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

    public init() throws(VideoCodecError) {
        try Libav.load(WB_LIBRARY_SWSCALE)
    }

    deinit {
        wb_sws_freeContext(context)
    }

    /// A new picture with the content of `picture`, stretched to `width` and `height`; colours follow the matrix and
    /// the range that `picture` declares.
    public func scale(
        _ picture: borrowing RawPicture, width: Int, height: Int, pixelFormat: PixelFormat
    ) throws(VideoCodecError) -> RawPicture {
        let scaled = try RawPicture(width: width, height: height, pixelFormat: pixelFormat)
        let source = picture.frame
        let target = scaled.frame
        try Libav.check(wb_av_frame_copy_props(target, source), "av_frame_copy_props")
        if pixelFormat == .rgb24 {
            target.pointee.colorspace = AVCOL_SPC_RGB
            target.pointee.color_range = AVCOL_RANGE_JPEG
        }
        try configure(Conversion(source: side(source), target: side(target)))

        let planes = source.pointee.data
        let targetPlanes = target.pointee.data
        let strides = source.pointee.linesize
        let targetStrides = target.pointee.linesize
        let rows = wb_sws_scale(
            context,
            [UnsafePointer(planes.0), UnsafePointer(planes.1), UnsafePointer(planes.2), UnsafePointer(planes.3)],
            [strides.0, strides.1, strides.2, strides.3], 0, source.pointee.height,
            [targetPlanes.0, targetPlanes.1, targetPlanes.2, targetPlanes.3],
            [targetStrides.0, targetStrides.1, targetStrides.2, targetStrides.3])
        try Libav.check(rows, "sws_scale")
        return scaled
    }

    private func side(_ frame: UnsafePointer<AVFrame>) -> Conversion.Side {
        Conversion.Side(
            width: frame.pointee.width, height: frame.pointee.height, format: frame.pointee.format,
            colorSpace: Int32(frame.pointee.colorspace.rawValue),
            isFullRange: frame.pointee.color_range == AVCOL_RANGE_JPEG)
    }

    private func configure(_ conversion: Conversion) throws(VideoCodecError) {
        guard conversion != configured else { return }
        let source = AVPixelFormat(rawValue: conversion.source.format)
        let target = AVPixelFormat(rawValue: conversion.target.format)
        configured = nil
        // libswscale ends the process when it is asked for a format that it does not know.
        guard wb_sws_isSupportedInput(source) > 0 else {
            throw .failed(call: "sws_isSupportedInput", code: 0, message: "this pixel format cannot be scaled")
        }
        context = wb_sws_getCachedContext(
            context, conversion.source.width, conversion.source.height, source,
            conversion.target.width, conversion.target.height, target, SWS_BICUBIC, nil, nil, nil)
        guard let context else {
            throw .failed(call: "sws_getCachedContext", code: 0, message: "this conversion is not supported")
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

internal import Glibc
internal import Media
internal import Platform
internal import VideoCapture
internal import VideoCodec

/// A frame's way from the driver's memory into the encoder, and what comes out of it.
final class RawFramePath {
    /// Where a frame was lost.
    enum Fault: Error, Equatable {
        /// It could not be read, or not be made into what the encoder takes. It is not published.
        case frame(VideoCodecError)
        case encoder(VideoCodecError)
    }

    let encoder: any FrameEncoder
    private var preparation: FramePreparation
    private var configuration: FramePreparation.Configuration
    private let decoder: JPEGDecoder
    private var converter: OddFormatConverter?
    /// CPU time of this thread inside the encoder, nanoseconds.
    private(set) var encoderCPU: UInt64 = 0
    /// Copies out of the driver's memory that were needed before the preparation, or by the encoder's rows after it.
    private var extraCopies = 0

    init(_ encoder: any FrameEncoder, _ configuration: FramePreparation.Configuration) throws(VideoCodecError) {
        self.encoder = encoder
        self.configuration = configuration
        preparation = try FramePreparation(configuration)
        decoder = JPEGDecoder()
    }

    func prepare(as configuration: FramePreparation.Configuration) throws(VideoCodecError) {
        guard configuration != self.configuration else { return }
        preparation = try FramePreparation(configuration)
        self.configuration = configuration
    }

    /// Of the last frame, between the driver's buffer and libavcodec's input.
    var copies: Int { preparation.copies + extraCopies }

    func process(
        _ frame: consuming RawFrame, at time: MediaTime, instant: UInt64, wallClock: Int64
    ) throws(Fault) -> [MediaEvent] {
        let prepared: VideoFrame
        do throws(VideoCodecError) {
            prepared = try preparation.prepare(try videoFrame(frame), wallClock: wallClock)
        } catch {
            throw .frame(error)
        }
        let begin = Clocks.thread
        let realigned = encoder.counters.realigned
        defer {
            encoderCPU &+= Clocks.thread &- begin
            extraCopies += Int(clamping: encoder.counters.realigned &- realigned)
        }
        do throws(VideoCodecError) {
            return try encoder.encode(prepared, at: time, captureInstant: instant)
        } catch {
            throw .encoder(error)
        }
    }

    private func videoFrame(_ frame: consuming RawFrame) throws(VideoCodecError) -> VideoFrame {
        let setup = frame.setup
        extraCopies = frame.copies
        if setup.pixelFormat.isJPEG {
            extraCopies += 1
            return try frame.withBytes { bytes throws(VideoCodecError) in try decoder.decode(bytes) }
        }
        if let format = PixelFormat(fourCC: setup.pixelFormat.rawValue) {
            let lent = frame.detach()
            return try VideoFrame(
                lending: lent.memory, bytesPerLine: setup.bytesPerLine, width: setup.width, height: setup.height,
                pixelFormat: format, isFullRange: setup.isFullRange, matrix: ColorMatrix(setup.colorSpace)
            ) { withExtendedLifetime(lent) {} }
        }
        extraCopies += 1
        return try converted(frame, setup)
    }

    /// From a vendor's own encoding.
    private func converted(_ frame: borrowing RawFrame, _ setup: CaptureSetup) throws(VideoCodecError) -> VideoFrame {
        let samples: [UInt8]
        do throws(CaptureError) {
            let converter: OddFormatConverter
            if let known = self.converter {
                converter = known
            } else {
                converter = try OddFormatConverter(for: setup.pixelFormat)
            }
            self.converter = converter
            samples = try frame.withBytes { bytes throws(CaptureError) in try converter.convert(bytes, setup) }
        } catch {
            throw .unsupportedFrame(what: "converting it (\(error))", frame: setup.text)
        }
        let memory = Memory(samples)
        return try VideoFrame(
            lending: memory.bytes, bytesPerLine: setup.width, width: setup.width, height: setup.height,
            pixelFormat: .yuv420p, isFullRange: setup.isFullRange, matrix: ColorMatrix(setup.colorSpace)
        ) { withExtendedLifetime(memory) {} }
    }

    /// Memory that stays where it is as long as something refers to it; `@unchecked`: written once, before it is shared.
    private final class Memory: @unchecked Sendable {
        let bytes: UnsafeMutableRawBufferPointer

        init(_ content: [UInt8]) {
            bytes = .allocate(byteCount: max(content.count, 1), alignment: 64)
            bytes.copyBytes(from: content)
        }

        deinit { bytes.deallocate() }
    }
}

extension ColorMatrix {
    init(_ space: CaptureSetup.ColorSpace) {
        switch space {
        case .unspecified: self = .unspecified
        case .bt601: self = .bt601
        case .bt709: self = .bt709
        }
    }
}

internal import CAVCodec
internal import Media
internal import VideoCodec
internal import Wire

/// One track of a container: libavformat's packets in, formats and access units out.
protocol ContainerTrack: AnyObject {
    /// Packets in the order of the file.
    func take(_ packet: UnsafePointer<AVPacket>) throws(TrackFailure) -> [MediaEvent]

    /// What is left at the end of the file.
    func finish() throws(TrackFailure) -> [MediaEvent]

    func requestKeyFrame()
}

extension ContainerTrack {
    func finish() throws(TrackFailure) -> [MediaEvent] { [] }
    func requestKeyFrame() {}
}

/// A track that is decoded and encoded again.
protocol TranscodedTrack: ContainerTrack {
    var decoder: CodecContext { get }

    /// What the decoder has ready, encoded again.
    func receive() throws(VideoCodecError) -> [MediaEvent]

    /// What the encoder holds at the end.
    func drain() throws(VideoCodecError) -> [MediaEvent]
}

extension TranscodedTrack {
    func take(_ packet: UnsafePointer<AVPacket>) throws(TrackFailure) -> [MediaEvent] {
        do throws(VideoCodecError) { return try decode(packet) } catch { throw .coding(error) }
    }

    func finish() throws(TrackFailure) -> [MediaEvent] {
        do throws(VideoCodecError) { return try decode(nil) + drain() } catch { throw .coding(error) }
    }

    private func decode(_ packet: UnsafePointer<AVPacket>?) throws(VideoCodecError) -> [MediaEvent] {
        var events: [MediaEvent] = []
        // A packet that does not decode costs its frame or its audio, no more.
        if decoder.send(packet: packet) == .full {
            events += try receive()
            _ = decoder.send(packet: packet)
        }
        return try events + receive()
    }
}

/// Why a track cannot go on. `ContainerInput` adds which file it is and what to do.
enum TrackFailure: Error {
    /// The track's bytes are not what its codec says.
    case damaged(MediaError)
    /// Decoding or encoding again failed.
    case coding(VideoCodecError)
    /// A codec that is not passed through, by FFmpeg's name; "video" or "audio".
    case unsupported(codec: String, kind: String)
    /// Frames out of order, and no time stamps that would say the order.
    case untimed
}

/// What of a stream its tracks need: copied out of AVStream, which changes while the file is read.
struct StreamTiming {
    private let numerator: Int64
    private let denominator: Int64
    /// Frames per second; nil where the container does not say, or says nonsense.
    let frameRate: Double?

    init(_ stream: UnsafePointer<AVStream>) {
        numerator = Int64(max(stream.pointee.time_base.num, 1))
        denominator = Int64(max(stream.pointee.time_base.den, 1))
        let average = Self.rate(stream.pointee.avg_frame_rate)
        let base = Self.rate(stream.pointee.r_frame_rate)
        // The average is cut short by how the container counts its first and last frame; where both mean the same,
        // the base rate is the clean one. Where they differ, frames are left out, and the average is right.
        if let average, let base, abs(average - base) < 0.1 * base {
            frameRate = base
        } else {
            frameRate = average ?? base
        }
    }

    private static func rate(_ rate: AVRational) -> Double? {
        guard rate.num > 0, rate.den > 0 else { return nil }
        let value = Double(rate.num) / Double(rate.den)
        return value >= 0.1 && value <= 1000 ? value : nil
    }

    /// Nil for libav's "no time stamp".
    func time(_ ticks: Int64) -> MediaTime? {
        guard ticks != wb_nopts() else { return nil }
        let product = ticks.multipliedReportingOverflow(by: numerator)
        guard !product.overflow else { return nil }
        return MediaTime(ticks: product.partialValue, timescale: denominator)
    }
}

extension UnsafePointer<AVPacket> {
    var bytes: [UInt8] {
        guard let data = pointee.data, pointee.size > 0 else { return [] }
        return Array(UnsafeBufferPointer(start: data, count: Int(pointee.size)))
    }

    /// Configuration that replaces the track's from this packet on.
    var newConfiguration: [UInt8]? {
        var size = 0
        guard let data = wb_av_packet_get_side_data(self, AV_PKT_DATA_NEW_EXTRADATA, &size), size > 0 else {
            return nil
        }
        return Array(UnsafeBufferPointer(start: data, count: size))
    }
}

extension UnsafePointer<AVCodecParameters> {
    var configuration: [UInt8] {
        guard let data = pointee.extradata, pointee.extradata_size > 0 else { return [] }
        return Array(UnsafeBufferPointer(start: data, count: Int(pointee.extradata_size)))
    }

    var codecName: String { String(cString: wb_avcodec_get_name(pointee.codec_id)) }
}

extension TrackFailure {
    /// The bytes end before what they announce.
    var isTruncation: Bool {
        guard case .damaged(let reason) = self else { return false }
        return switch reason {
        case .wire(.truncated), .truncatedBits: true
        default: false
        }
    }
}

internal import CameraModel
internal import ErrorCatalog
internal import Media
internal import VideoCapture

/// Frames that the camera encodes itself, passed through untouched: out of the driver's memory in one copy, which
/// puts NAL units behind lengths.
struct EncodedPath {
    /// What a camera's stream was found to be.
    enum Fault: Error, Equatable {
        case unreadable(MediaError)
        /// No NAL unit at all.
        case empty
    }

    private var parameterSets = ParameterSets(codec: .h264)
    private var format: VideoFormat?
    private(set) var gate = ReferenceGate()
    private(set) var copies = 1

    /// The camera's stream begins, once more.
    mutating func streamBegan() { gate.streamBegan() }

    /// A frame came that nothing can be made of.
    mutating func frameLost() { gate.frameLost() }

    /// Whether the camera is to be asked for a key frame, at CLOCK_MONOTONIC in nanoseconds.
    mutating func wantsKeyFrame(at now: UInt64) -> Bool { gate.asks(at: now) }

    /// Whether frames come, and none that a viewer can begin with, for too long.
    mutating func lacksKeyFrame(at now: UInt64) -> Bool { gate.isStarved(at: now) }

    /// - Parameter rate: frames per second, for a stream that does not say.
    mutating func process(
        _ frame: borrowing RawFrame, at time: MediaTime, instant: UInt64, rate: Double
    ) throws(Fault) -> [MediaEvent] {
        let codec = VideoCodec.h264
        let sequence = frame.sequence
        let data = frame.withBytes { bytes in
            AnnexB.lengthPrefixed(copying: bytes.bytes) { header in
                switch codec.kind(ofHeader: header) {
                case .accessUnitDelimiter, .filler: false
                default: true
                }
            }
        }
        guard !data.isEmpty else {
            gate.frameLost()
            throw .empty
        }
        var events: [MediaEvent] = []
        do {
            let isKeyFrame = try codec.isKeyFrame(data[...])
            if var found = try parameterSets.update(with: data[...]) {
                found.frameRate = found.frameRate ?? rate
                if found != format {
                    format = found
                    events.append(.videoFormat(found))
                }
            }
            // Without its parameter sets a frame is of no use to anyone.
            guard format != nil, gate.admits(sequence: sequence, isKeyFrame: isKeyFrame) else { return events }
            events.append(
                .accessUnit(
                    AccessUnit(
                        track: .video(codec), isKeyFrame: isKeyFrame, presentationTime: time, decodeTime: time,
                        data: data, captureInstant: instant)))
        } catch {
            gate.frameLost()
            throw .unreadable(error)
        }
        return events
    }

    var size: (width: Int, height: Int)? { format.map { ($0.width, $0.height) } }
}

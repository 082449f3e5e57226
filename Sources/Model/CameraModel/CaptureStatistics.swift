public import ErrorCatalog

/// What a camera process can say of its camera and its encoder: of sources that have them. All counts begin with the
/// process and never go back.
public struct CaptureStatistics: Codable, Equatable, Sendable {
    public enum State: String, Codable, Sendable, CaseIterable {
        case starting
        /// The device is not there, may not be opened yet, or is to be opened again after a fault: a declared wait that
        /// gets on (`attempts`).
        case waiting
        case streaming
        case stopped
    }

    public var state: State = .starting
    /// Why it waits, for a person; nil when there is nothing to say.
    public var reason: String?
    public var code: ErrorCode?
    /// Steps of waiting: each look for the device, each attempt to start its stream.
    public var attempts: UInt64 = 0
    /// As configured.
    public var path: String
    /// Where it was found: "/dev/video2".
    public var device: String?
    /// What the driver calls it.
    public var card: String?
    /// Of its USB port, as the kernel names it: "1-1.4"; nil for others.
    public var usbPort: String?
    /// Of what the camera delivers: "YUYV".
    public var pixelFormat: String?
    /// Of what the camera delivers, in pixels, and frames per second.
    public var captureWidth: Int?
    public var captureHeight: Int?
    public var captureRate: Double?

    /// FFmpeg's name; "passthrough" where the camera encodes; nil before the first frame.
    public var encoder: String?
    /// Why that one: of those tried before, each with its reason.
    public var encoderReason: String?
    public var isHardwareEncoder: Bool?
    /// Of what is published.
    public var width: Int?
    public var height: Int?
    public var rate: Double?
    /// What was requested and could not be held, as a message; nil: all as requested.
    public var limit: String?

    /// Frames that the driver delivered.
    public var captured: UInt64 = 0
    /// Of these, given up because a newer one was there before the encoder had time.
    public var superseded: UInt64 = 0
    /// Left out on purpose: the camera is faster than the rate that was asked for.
    public var thinned: UInt64 = 0
    /// Missing in the driver's count.
    public var lost: UInt64 = 0
    /// Flagged by the driver, too short, or not decodable.
    public var damaged: UInt64 = 0
    /// Of a camera that encodes itself: held back until a key frame, because one before them was lost.
    public var withheld: UInt64 = 0
    /// Steps of the driver's clock that were not time.
    public var clockSteps: UInt64 = 0
    /// Times when the device was gone, or its stream had to be started again.
    public var interruptions: UInt64 = 0
    /// Packets that the encoder flagged, and frames after them that were given up until its next key frame.
    public var encoderErrors: UInt64 = 0
    /// Frames that went into the encoder and never came out.
    public var encoderDrops: UInt64 = 0
    /// Hangs of the hardware encoder that this box remembers.
    public var encoderHangs: UInt64 = 0
    /// Times when the encoder was opened again.
    public var encoderOpenings: UInt64 = 0
    /// Copies and conversions of the last frame in this process between the driver's buffer and the encoder's input;
    /// what libavcodec copies itself is not counted.
    public var copiesPerFrame: Int = 0
    /// CPU time of the source's thread outside the encoder, nanoseconds.
    public var threadNanoseconds: UInt64 = 0
    /// Inside the encoder, for each frame.
    public var encodeDurations = DurationHistogram()
    /// From a frame's arrival out of the driver to its packet, without the time inside the encoder: what this process
    /// adds.
    public var ownDurations = DurationHistogram()
    /// From the driver's time stamp to the packet, newest frame, nanoseconds.
    public var latencyNanoseconds: UInt64?
    /// How far the wall clock and the clock of the time stamps have moved apart since the start, in milliseconds.
    public var wallClockDriftMilliseconds: Double?
    /// Audio: how far the audio's own clock was from the frames' before it was corrected, in milliseconds.
    public var audioDriftMilliseconds: Double?
    /// ALSA's name of the audio device while it delivers; nil: no audio.
    public var audio: String?
    /// Why there is no audio though it was asked for.
    public var audioReason: String?

    /// Of a camera on the network; nil for others.
    public var network: NetworkStatistics?

    public init(path: String) {
        self.path = path
    }
}

/// What a camera offers, from the answer to DESCRIBE: an SDP (RFC 4566, RFC 8866), read leniently.
public struct SessionDescription: Equatable, Sendable {
    /// One coding of a medium.
    public struct Format: Equatable, Sendable {
        public var payloadType: UInt8
        /// In upper case: `H264`, `H265`, `JPEG`, `MPEG4-GENERIC`, `PCMU`, …; empty when the description does not say.
        public var encoding: String
        /// Timestamp units per second; 90 000 for video and 8 000 else when the description says nothing usable.
        public var clockRate: Int
        /// 1 when the description does not say.
        public var channels = 1
        /// From `a=fmtp`: keys in lower case, values as given without quotes. A parameter without value is empty.
        public var parameters: [String: String] = [:]
    }

    /// As the camera writes it: `receiveOnly` is what a viewer receives.
    public enum Direction: Equatable, Sendable {
        case sendReceive, receiveOnly, sendOnly, inactive
    }

    public struct Media: Equatable, Sendable {
        /// `video`, `audio`, `application`, …, in lower case.
        public var kind: String
        /// 0 unless the camera fixes one (multicast).
        public var port: UInt16 = 0
        /// `RTP/AVP`, …
        public var protocolName = "RTP/AVP"
        /// In the order of the `m=` line.
        public var formats: [Format]
        /// `a=control`, for `RTSPURL.resolving(control:base:)`.
        public var control: String?
        public var direction: Direction = .sendReceive
        /// The medium itself says its direction; else it is the session's.
        public var hasOwnDirection = true
        /// The address of `c=`, the session's when the medium has none; without time to live.
        public var connection: String?
        /// Frames per second.
        public var frameRate: Double?
        /// Bits per second.
        public var bandwidth: Int?
        /// Width and height of JPEG images in pixels (`a=x-dimensions`), 1…65535; nil: not given.
        public var dimensions: Dimensions?

        public struct Dimensions: Equatable, Sendable {
            public var width: Int
            public var height: Int
        }

        /// Encrypted packets: SRTP (RFC 3711), with keys by the description or by DTLS.
        public var isSRTP: Bool { protocolName.uppercased().contains("RTP/SAVP") }

        /// Audio that the camera wants to get (ONVIF streaming specification, back channel); never set up. Cameras that
        /// write `sendonly` for the whole session mean what they send themselves.
        public var isBackChannel: Bool { kind == "audio" && direction == .sendOnly && hasOwnDirection }
    }

    /// `s=`; empty when it is missing.
    public var name = ""
    /// The session's own `a=control`.
    public var control: String?
    public var media: [Media]

    /// Bytes of the longest description that is read.
    public static let maxLength = 64 << 10
    /// Media of the longest description that is read.
    public static let maxMedia = 16
}

internal import FLV
internal import RTMP

/// What a relay does to an encrypted stream.
public struct RelayFindings: Codable, Equatable, Sendable {
    public enum Verdict: String, Codable, Sendable {
        /// Everything passes; `--relay-profile keeps-metadata`.
        case carriesEverything = "carries-everything"
        /// `ntdf_header` is lost from the metadata; `--relay-profile drops-metadata`.
        case dropsMetadata = "drops-metadata"
        /// It parses frames and passes them when they have the shape of NAL units; `--relay-profile parses-avcc`.
        case parsesAVCC = "parses-avcc"
        /// Frames are changed, missing, or the publisher is disconnected.
        case cannotCarry = "cannot-carry"
    }

    public var schema = "watchbox.relay.test/1"
    public var verdict = Verdict.cannotCarry
    /// For a person: what the verdict rests on, and what to do.
    public var reason = ""
    /// From the first packet to the accepted publication, milliseconds.
    public var publishMilliseconds: Double?
    /// Ping to its answer, milliseconds; nil: the relay answers none, and a dead one is noticed later.
    public var roundTripMilliseconds: Double?
    public var framesSent = 0
    /// Of these, the ones that a player got, byte for byte and in order.
    public var framesExact = 0
    /// Got, but changed, or not sent by us.
    public var framesForeign = 0
    /// `ntdf_header` in the metadata of the player that was there from the beginning.
    public var keepsMetadata = false
    public var passesHeaderFrame = false
    /// A player that comes late has a header before its first frame.
    public var lateJoinerHasHeader = false
    /// …and its first frame is a key frame.
    public var lateJoinerBeginsWithKeyFrame = false
    /// From its `play` to its first key frame, milliseconds.
    public var lateJoinerMilliseconds: Double?

    public init() {}

    /// Compares what was sent with what came.
    mutating func evaluate(sent stream: ProbeStream, early: [ProbeStream.Message], late: [ProbeStream.Message]) {
        framesSent = stream.frames.count
        let got = early.filter(Self.isFrame)
        var expected = Dictionary(uniqueKeysWithValues: stream.frames.enumerated().map { ($1.body, $0) })
        var position = -1
        for frame in got {
            guard let index = expected.removeValue(forKey: frame.body), index > position else {
                framesForeign += 1
                continue
            }
            position = index
            framesExact += 1
        }
        keepsMetadata = early.contains { Self.metadataHeader($0) == stream.header }
        passesHeaderFrame = early.contains { Self.headerFrame($0) == stream.header }
        if let first = late.firstIndex(where: Self.isFrame) {
            lateJoinerHasHeader = late[..<first].contains {
                Self.metadataHeader($0) == stream.header || Self.headerFrame($0) == stream.header
            }
        }
        if let frame = late.first(where: { $0.type == .video && Self.isFrame($0) }) {
            lateJoinerBeginsWithKeyFrame = Self.isKeyFrame(frame)
        }
        conclude(frames: got.count)
    }

    private mutating func conclude(frames: Int) {
        if framesExact == 0 {
            verdict = .cannotCarry
            reason =
                frames == 0
                ? "no frame came back: the relay drops what it cannot parse, or plays nothing. Use another relay"
                : "the relay changes frames: it parses frames, and sealed ones are not for parsing. Use another relay"
        } else if framesForeign > 0 {
            verdict = .cannotCarry
            reason =
                "\(framesForeign) of \(frames) frames came back changed, out of order or twice. Use another relay"
        } else if framesExact * 10 < framesSent * 9 {
            verdict = .cannotCarry
            reason =
                "\(framesSent - framesExact) of \(framesSent) frames did not come back. Try again; if it stays so, use another relay"
        } else if keepsMetadata {
            verdict = .carriesEverything
            reason = "metadata and frames come back as they were sent. Nothing needs to be set"
        } else if passesHeaderFrame {
            verdict = .dropsMetadata
            reason =
                "the relay rebuilds the metadata and loses ntdf_header; the header frame passes. "
                + "Set --relay-profile drops-metadata"
        } else {
            verdict = .cannotCarry
            reason =
                "neither form of the NanoTDF header comes through: no viewer could ask for the key. Use another relay"
        }
    }

    /// What was found with wrapped frames, where plain ones cannot be carried.
    mutating func concludeWrapped() {
        guard verdict != .cannotCarry else { return }
        reason =
            "the relay parses frames, and passes sealed ones in the shape of NAL units. Set --relay-profile parses-avcc"
        if verdict == .dropsMetadata {
            reason += "; it also loses ntdf_header, so late viewers wait for the next key (rotate_seconds)"
        }
        verdict = .parsesAVCC
    }

    static func isFrame(_ message: ProbeStream.Message) -> Bool {
        switch message.type {
        case .video:
            if NTDFHeaderFrame.matches(message.body[...]) { return false }
            guard let header = try? VideoTagHeader.parse(message.body[...]).header else { return true }
            return header.kind != .sequenceHeader
        case .audio:
            guard let header = try? AudioTagHeader.parse(message.body[...]).header else { return true }
            return header.kind != .sequenceHeader
        default: return false
        }
    }

    private static func isKeyFrame(_ message: ProbeStream.Message) -> Bool {
        (try? VideoTagHeader.parse(message.body[...]).header.isKeyFrame) == true
    }

    private static func metadataHeader(_ message: ProbeStream.Message) -> [UInt8]? {
        guard message.type == .dataAMF0 else { return nil }
        return (try? StreamMetadata.parse(message.body[...]))??.ntdfHeader
    }

    private static func headerFrame(_ message: ProbeStream.Message) -> [UInt8]? {
        guard message.type == .video, NTDFHeaderFrame.matches(message.body[...]) else { return nil }
        return (try? NTDFHeaderFrame.parse(message.body[...])).map { Array($0) }
    }
}

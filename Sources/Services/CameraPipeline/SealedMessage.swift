internal import FLV
internal import Media
internal import NanoTDF
public import RTMP

/// A message on its way to the transport: a clear prefix and a payload that only `SealedEntry` can have made.
///
/// The transport of a camera takes nothing else, and a media payload gets into one through `CollectionSealer` alone
/// (or with a `ClearPermit`, which exists in tests only): that a frame leaves sealed or not at all is a matter of
/// types, not of care.
public struct SealedMessage: Equatable, Sendable {
    public enum Content: Equatable, Sendable {
        /// `onMetaData`, with the collection's header.
        case metadata
        /// The collection's header in band.
        case header
        case videoSequenceHeader
        case audioSequenceHeader
        /// A sealed access unit.
        case video
        case audio
    }

    public fileprivate(set) var content: Content
    /// Milliseconds of decode time since the stream began, modulo 2^32.
    public fileprivate(set) var timestamp: UInt32
    /// What stands in clear before the payload; a data message has none.
    public fileprivate(set) var prefix: [UInt8]
    public fileprivate(set) var payload: [UInt8]

    fileprivate init() {
        content = .metadata
        timestamp = 0
        prefix = []
        payload = []
    }

    public var type: MessageType {
        switch content {
        case .metadata: .dataAMF0
        case .header, .videoSequenceHeader, .video: .video
        case .audioSequenceHeader, .audio: .audio
        }
    }

    /// Length of the RTMP message.
    public var byteCount: Int { prefix.count + payload.count }
}

/// What a media payload is put under.
enum Protection: Sendable {
    case collection(CollectionSealer)
    case clear(ClearPermit)
}

/// Messages that go out together, with nothing between them: one media message in the ordinary case; metadata, header
/// frame, sequence headers and key frame where a collection begins.
///
/// Its buffers are reused from one entry to the next: sealing into them allocates nothing in the steady state.
public struct SealedEntry: RandomAccessCollection, Sendable {
    private var slots: [SealedMessage] = []

    public private(set) var endIndex = 0
    public var startIndex: Int { 0 }

    public subscript(position: Int) -> SealedMessage {
        precondition(position < endIndex, "read behind the end of the entry")
        return slots[position]
    }

    init() {}

    mutating func removeAll() {
        endIndex = 0
    }

    mutating func append(_ metadata: StreamMetadata, at timestamp: UInt32) {
        let index = begin(.metadata, at: timestamp)
        slots[index].payload = metadata.encodedSetDataFrame()
    }

    /// - Throws: for a header of more than 65 535 bytes.
    mutating func append(headerOf collection: CollectionSealer, at timestamp: UInt32) throws(FLVError) {
        let frame = try NTDFHeaderFrame.encode(collection.headerBytes)
        let index = begin(.header, at: timestamp)
        slots[index].payload = frame
    }

    mutating func append(_ format: VideoFormat, at timestamp: UInt32) {
        let index = begin(.videoSequenceHeader, at: timestamp)
        VideoTagHeader(codec: format.codec, isKeyFrame: true, kind: .sequenceHeader).append(to: &slots[index].prefix)
        slots[index].payload = format.configurationRecord
    }

    mutating func append(_ format: AudioFormat, at timestamp: UInt32) {
        let index = begin(.audioSequenceHeader, at: timestamp)
        AudioTagHeader(kind: .sequenceHeader).append(to: &slots[index].prefix)
        slots[index].payload = format.audioSpecificConfig
    }

    /// Seals a unit as the next item of `protection`'s collection.
    /// - Parameters:
    ///   - compositionTime: milliseconds from decoding to presentation; video only.
    ///   - wraps: an item of video gets the shape of a NAL unit.
    /// - Returns: the item's IV; 0 when nothing was sealed, in a test.
    /// - Throws: with the entry as it was before.
    mutating func append(
        _ unit: AccessUnit, compositionTime: Int32, under protection: Protection, wraps: Bool = false,
        at timestamp: UInt32
    ) throws(NanoTDFError) -> UInt32 {
        let index: Int
        switch unit.track {
        case .video(let codec):
            index = begin(.video, at: timestamp)
            let kind = VideoTagHeader.Kind.codedFrame(compositionTime: compositionTime)
            VideoTagHeader(codec: codec, isKeyFrame: unit.isKeyFrame, kind: kind).append(to: &slots[index].prefix)
        case .audio:
            index = begin(.audio, at: timestamp)
            AudioTagHeader(kind: .rawFrame).append(to: &slots[index].prefix)
        }
        switch protection {
        case .collection(let sealer):
            let iv: UInt32
            do {
                iv = try sealer.seal(unit.data, into: &slots[index].payload)
            } catch {
                endIndex -= 1
                throw error
            }
            if wraps, case .video(let codec) = unit.track {
                NALWrapper.append(
                    codec: codec, isKeyFrame: unit.isKeyFrame, itemByteCount: slots[index].payload.count,
                    to: &slots[index].prefix)
            }
            return iv
        case .clear:
            slots[index].payload = unit.data
            return 0
        }
    }

    /// A message whose payload is still to be set.
    private mutating func begin(_ content: SealedMessage.Content, at timestamp: UInt32) -> Int {
        if endIndex == slots.count { slots.append(SealedMessage()) }
        let index = endIndex
        slots[index].content = content
        slots[index].timestamp = timestamp
        slots[index].prefix.removeAll(keepingCapacity: true)
        // The payload keeps its old bytes: the sealer overwrites them all, and to clear them first would cost as much as
        // a tenth of the encryption.
        endIndex += 1
        return index
    }
}

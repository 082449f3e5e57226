import CameraPipeline
import FLV
import Media
import NanoTDF
import RTMP
import Testing

/// The reader's half, as strict as can be: follows the messages of one connection, opens each item under the
/// collection that was announced last, and records every fault in the writer's order.
struct StreamAuditor {
    /// The plaintext of an item under the collection of a header; nil when it does not open.
    private let opener: (ContainerItem, NanoTDFHeader) -> [UInt8]?

    private(set) var faults: [String] = []
    private(set) var units: [AccessUnit] = []
    private(set) var collections: [NanoTDFHeader] = []
    private(set) var lastCounter: UInt32 = 0

    private var known: Set<[UInt8]> = []
    private var metadataHeader: [UInt8]?
    private var announced: NanoTDFHeader?
    private var videoRecord: [UInt8]?
    private var audioConfig: [UInt8]?
    private var videoBegan = false
    private var lastTimestamp: [Bool: UInt32] = [:]

    init(opener: @escaping (ContainerItem, NanoTDFHeader) -> [UInt8]?) {
        self.opener = opener
    }

    mutating func receive(_ message: SealedMessage) {
        receive(message.type, message.timestamp, message.prefix + message.payload)
    }

    mutating func receive(_ type: MessageType, _ timestamp: UInt32, _ body: [UInt8]) {
        do {
            switch type {
            case .dataAMF0: try receiveMetadata(body)
            case .video: try receiveVideo(body, timestamp)
            case .audio: try receiveAudio(body, timestamp)
            default: faults.append("\(type)")
            }
        } catch {
            faults.append("\(type): \(error)")
        }
    }

    /// Takes off the empty item that ends an orderly stream.
    mutating func takeEnd() {
        if units.last?.data.isEmpty == true { units.removeLast() }
    }

    private mutating func receiveMetadata(_ body: [UInt8]) throws {
        metadataHeader = try StreamMetadata.parse(body[...])?.ntdfHeader
        if metadataHeader == nil { faults.append("metadata without a header") }
    }

    private mutating func receiveVideo(_ body: [UInt8], _ timestamp: UInt32) throws {
        if NTDFHeaderFrame.matches(body[...]) {
            let bytes = Array(try NTDFHeaderFrame.parse(body[...]))
            if bytes != metadataHeader { faults.append("header frame and metadata differ") }
            let header = try NanoTDFHeader.parse(bytes)
            if header != announced {
                if !known.insert(header.ephemeralPublicKey).inserted { faults.append("a collection announced again") }
                collections.append(header)
                announced = header
                lastCounter = 0
            }
            return
        }
        let (header, payload) = try VideoTagHeader.parse(body[...])
        switch header.kind {
        case .sequenceHeader: videoRecord = Array(payload)
        case .codedFrame(let compositionTime):
            if videoRecord == nil { faults.append("video before its sequence header") }
            if !videoBegan, !header.isKeyFrame { faults.append("video begins with an inter frame") }
            videoBegan = true
            let decode = MediaTime(milliseconds: Int64(timestamp))
            let presentation = MediaTime(milliseconds: Int64(timestamp) + Int64(compositionTime))
            try open(payload, isVideo: true, timestamp: timestamp) {
                AccessUnit(
                    track: .video(header.codec), isKeyFrame: header.isKeyFrame, presentationTime: presentation,
                    decodeTime: decode, data: $0)
            }
        default: faults.append("\(header.kind)")
        }
    }

    private mutating func receiveAudio(_ body: [UInt8], _ timestamp: UInt32) throws {
        let (header, payload) = try AudioTagHeader.parse(body[...])
        switch header.kind {
        case .sequenceHeader: audioConfig = Array(payload)
        case .rawFrame:
            if audioConfig == nil { faults.append("audio before its sequence header") }
            let time = MediaTime(milliseconds: Int64(timestamp))
            try open(payload, isVideo: false, timestamp: timestamp) {
                AccessUnit(
                    track: .audio(.aac), isKeyFrame: true, presentationTime: time, decodeTime: time, data: $0)
            }
        case .other(let type): faults.append("audio packet \(type)")
        }
    }

    private mutating func open(
        _ payload: ArraySlice<UInt8>, isVideo: Bool, timestamp: UInt32, _ unit: ([UInt8]) -> AccessUnit
    ) throws {
        guard let announced else { return faults.append("an item before any header") }
        let item = try ContainerItem.parse(payload, tagByteCount: 16, limit: 1 << 24)
        guard let plaintext = opener(item, announced) else {
            return faults.append("an item that the announced collection does not open")
        }
        if item.counter != lastCounter + 1 { faults.append("IV \(item.counter) after \(lastCounter)") }
        lastCounter = item.counter
        if let last = lastTimestamp[isVideo], Int32(bitPattern: timestamp &- last) < 0 {
            faults.append("time goes back from \(last) to \(timestamp)")
        }
        lastTimestamp[isVideo] = timestamp
        units.append(unit(plaintext))
    }
}

internal import Wire

/// What stands before the payload of an audio message (type 8): always in clear (FLV 10.1 §E.4.2.1, Enhanced RTMP v2
/// "Enhanced Audio"). AAC only.
public struct AudioTagHeader: Equatable, Sendable {
    public enum Kind: Equatable, Sendable {
        /// AudioSpecificConfig follows.
        case sequenceHeader
        /// One raw AAC frame follows, without ADTS.
        case rawFrame
        /// A packet type of Enhanced RTMP that is passed on but not understood; its number.
        case other(UInt8)
    }

    public var kind: Kind

    public init(kind: Kind) {
        self.kind = kind
    }

    /// `AF 00` or `AF 01`, whatever rate and channels: the AudioSpecificConfig says them (§E.4.2.1). `.other` is
    /// written as Enhanced RTMP.
    public func encoded() -> [UInt8] {
        var bytes: [UInt8] = []
        append(to: &bytes)
        return bytes
    }

    public func append(to bytes: inout [UInt8]) {
        switch kind {
        case .sequenceHeader:
            bytes.append(0xAF)
            bytes.append(0)
        case .rawFrame:
            bytes.append(0xAF)
            bytes.append(1)
        case .other(let type):
            bytes.append(0x90 | type & 0x0F)
            if type & 0x0F != EnhancedAudioPacketType.multitrack { bytes.appendUInt32(FourCC.mp4a) }
        }
    }

    /// Parses the clear prefix; accepts any rate, size and channel bits, and AAC in the form of Enhanced RTMP.
    public static func parse(
        _ body: ArraySlice<UInt8>
    ) throws(FLVError) -> (header: AudioTagHeader, payload: ArraySlice<UInt8>) {
        var reader = FieldReader<FLVError>(body)
        let first = try reader.readUInt8()
        let kind: Kind
        switch first >> 4 {
        case 10:
            switch try reader.readUInt8() {
            case 0: kind = .sequenceHeader
            case 1: kind = .rawFrame
            case let type: throw .unknownAudioPacketType(type)
            }
        case 9:
            let type = try reader.passModifiers(packetType: first & 0x0F)
            if type != EnhancedAudioPacketType.multitrack {
                let fourCC = try reader.readUInt32()
                guard fourCC == FourCC.mp4a else { throw .unsupportedFourCC(fourCC) }
            }
            switch type {
            case EnhancedAudioPacketType.sequenceStart: kind = .sequenceHeader
            case EnhancedAudioPacketType.codedFrames: kind = .rawFrame
            default: kind = .other(type)
            }
        case let format: throw .unsupportedAudioFormat(format)
        }
        return (AudioTagHeader(kind: kind), reader.readRemaining())
    }
}

/// Enhanced RTMP v2, AudioPacketType.
enum EnhancedAudioPacketType {
    static let sequenceStart: UInt8 = 0
    static let codedFrames: UInt8 = 1
    static let multitrack: UInt8 = 5
}

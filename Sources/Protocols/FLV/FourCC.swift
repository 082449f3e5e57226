internal import Media

/// Codec names of Enhanced RTMP: four characters, read as one big-endian number.
enum FourCC {
    static let avc1: UInt32 = 0x6176_6331
    static let hvc1: UInt32 = 0x6876_6331
    static let mp4a: UInt32 = 0x6D70_3461
}

extension VideoCodec {
    /// FLV's codec id: 7 by the specification, 12 by the convention of Chinese CDNs.
    var legacyID: UInt8 {
        switch self {
        case .h264: 7
        case .hevc: 12
        }
    }

    /// Enhanced RTMP's name.
    var fourCC: UInt32 {
        switch self {
        case .h264: FourCC.avc1
        case .hevc: FourCC.hvc1
        }
    }

    init?(legacyID: UInt8) {
        switch legacyID {
        case 7: self = .h264
        case 12: self = .hevc
        default: return nil
        }
    }

    init?(fourCC: UInt32) {
        switch fourCC {
        case FourCC.avc1: self = .h264
        case FourCC.hvc1: self = .hevc
        default: return nil
        }
    }
}

public import Media

/// For how many frames nothing has changed, from what is encoded of them: nobody here decodes.
///
/// Frames between key frames count as the same when they have one length: encoders give a frame that does not change
/// the same few bytes every time, though each has its number in them. That alone is also true of a dark or covered
/// scene whose changes the encoder does not think worth a bit. A key frame shows the whole frame, with the sensor's
/// noise, so it must be the same to the byte as well; encoders number key frames alternately (`idr_pic_id`), so it may
/// also be the one before.
///
/// Says nothing until two key frames were the same once: of an encoder that numbers its key frames on, or whose rate
/// control still moves, it cannot be determined, and no difference between key frames proves that the frame changed.
public struct UnchangedFrames: Equatable, Sendable {
    /// Newest frames that show what those before them showed, up to the last key frame, which proved it. Nil until two
    /// key frames have been the same.
    public private(set) var count: UInt64?

    private var length: Int?
    /// Of the newest two that differ.
    private var keyFrames: [UInt64] = []
    /// Not proved yet by a key frame.
    private var run: UInt64 = 0

    public init() {}

    public mutating func offered(_ unit: AccessUnit) {
        guard case .video(let codec) = unit.track else { return }
        guard unit.isKeyFrame else {
            if let length, length != unit.data.count { changed() } else { run += length == nil ? 0 : 1 }
            length = unit.data.count
            return
        }
        let digest = Self.digest(of: unit.data, codec)
        if keyFrames.contains(digest) {
            run += 1
            count = run
        } else {
            changed()
            keyFrames = keyFrames.suffix(1) + [digest]
        }
    }

    private mutating func changed() {
        run = 0
        if count != nil { count = 0 }
    }

    /// FNV-1a of the slices; what encoders say beside the frame (time codes, parameters) is left out.
    static func digest(of data: [UInt8], _ codec: VideoCodec) -> UInt64 {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        var rest = data[...]
        while rest.count > 4 {
            let length = rest.prefix(4).reduce(0) { $0 << 8 | Int($1) }
            let unit = rest.dropFirst(4).prefix(length)
            rest = rest.dropFirst(4 + unit.count)
            guard let first = unit.first, isSlice(first, codec) else { continue }
            for byte in unit { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        }
        return hash
    }

    private static func isSlice(_ header: UInt8, _ codec: VideoCodec) -> Bool {
        switch codec {
        case .h264: (1...5).contains(header & 0x1F)
        case .hevc: header >> 1 & 0x3F < 32
        }
    }
}

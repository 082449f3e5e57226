internal import Media

/// An encoder's packet taken apart.
struct EncodedPacket {
    /// NAL units behind their lengths. Encoders write byte streams; delimiters and filler belong there only, and are
    /// left out.
    let data: [UInt8]
    /// Whether there is an access unit in it, not only parameter sets.
    let hasFrame: Bool
    /// Whether a decoder can begin with it. By its NAL units, because not every driver sets the flag.
    let isKeyFrame: Bool

    init(_ bytes: RawSpan, codec: VideoCodec) {
        var hasFrame = false
        var isKeyFrame = false
        data = AnnexB.lengthPrefixed(copying: bytes) { header in
            switch codec.kind(ofHeader: header) {
            case .keyPicture:
                if !hasFrame { isKeyFrame = true }
                hasFrame = true
                return true
            case .picture:
                hasFrame = true
                return true
            case .accessUnitDelimiter, .filler: return false
            case .videoParameterSet, .sequenceParameterSet, .pictureParameterSet, .supplementalInformation, .other:
                return true
            }
        }
        self.hasFrame = hasFrame
        self.isKeyFrame = isKeyFrame
    }
}

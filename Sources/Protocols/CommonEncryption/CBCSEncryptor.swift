internal import Media
internal import Wire

/// Encrypts a fragmented MP4 sample by sample, as FairPlay wants it: scheme `cbcs` of ISO/IEC 23001-7, pattern 1:9 for H.264 and H.265, whole
/// samples of AAC, one IV for all.
///
/// What a player needs before it decrypts stays clear: parameter sets, supplemental information, delimiters, and of each slice its header.
/// A fragment is held in memory, and nothing of those before but parameter sets.
public struct CBCSEncryptor: Sendable {
    private enum Kind: Sendable {
        case video(lengthSize: Int, headers: SliceHeaders)
        case audio
    }

    /// `ftyp` and `moov`, with `encv` and `enca` in place of the sample entries.
    public let initSegment: [UInt8]
    /// What it has to be decrypted to: as it was given, but for sizes of 64 bits, which become such of 32.
    public let clearInitSegment: [UInt8]

    private let iv: [UInt8]
    private let cipher: any BlockChaining
    private let defaults: [UInt32: MovieHeader.Defaults]
    private var tracks: [UInt32: Kind] = [:]

    /// - Parameters:
    ///   - initSegment: `ftyp` and `moov` of a fragmented MP4 with tracks of H.264, H.265 and AAC only: another would stay readable.
    ///   - keyID: default_KID, 16 bytes.
    ///   - iv: 16 bytes, for no other film under this key.
    public init(
        initSegment: [UInt8], keyID: [UInt8], iv: [UInt8], cipher: any BlockChaining
    ) throws(CommonEncryptionError) {
        precondition(
            keyID.count == ProtectionScheme.keyIDByteCount && iv.count == SamplePattern.blockSize,
            "16 bytes each: the caller's fault")
        let header = try MovieHeader(initSegment)
        guard !header.tracks.isEmpty else { throw header.moov.fault(.missing) }
        for track in header.tracks {
            let entry = track.entry
            switch entry.box.kind {
            case "encv", "enca": throw entry.box.fault(.alreadyProtected)
            default: break
            }
            switch entry.media {
            case .video:
                let (lengthSize, headers) = try entry.video(initSegment)
                tracks[track.id] = .video(lengthSize: lengthSize, headers: headers)
            case .audio:
                try entry.checkAAC(initSegment)
                tracks[track.id] = .audio
            case nil: throw entry.box.fault(.unsupported("this kind of sample"))
            }
        }
        self.initSegment = try header.rewritten(initSegment) { (track) throws(CommonEncryptionError) in
            let entry = track.entry
            let isVideo = entry.media == .video
            let scheme = ProtectionScheme(
                format: entry.box.kind, pattern: isVideo ? .video : .whole, keyID: keyID, iv: iv)
            return try MovieBox.box(
                isVideo ? "encv" : "enca", Array(initSegment[entry.box.content]) + scheme.encoded())
        }
        clearInitSegment = try header.rewritten(initSegment) { (track) throws(CommonEncryptionError) in
            try MovieBox.box(track.entry.box.kind, Array(initSegment[track.entry.box.content]))
        }
        defaults = header.defaults
        self.iv = iv
        self.cipher = cipher
    }

    /// Encrypts `moof` with `mdat`, one or several, in the order of the film. Indexes of the clear file (`sidx`, `mfra`) are left out.
    public mutating func encrypt(_ fragments: [UInt8]) throws(CommonEncryptionError) -> [UInt8] {
        var output: [UInt8] = []
        output.reserveCapacity(fragments.count + 4096)
        try FragmentWalk.walk(fragments, defaults) { (part) throws(CommonEncryptionError) in
            switch part {
            case .other(let box): output += fragments[box.range]
            case .fragment(let fragment): output += try encrypt(fragment, fragments)
            }
        }
        return output
    }

    /// What fragments have to be decrypted to: as they were given, less what is left out.
    public func clear(_ fragments: [UInt8]) throws(CommonEncryptionError) -> [UInt8] {
        var output: [UInt8] = []
        output.reserveCapacity(fragments.count)
        try FragmentWalk.walk(fragments, defaults) { (part) throws(CommonEncryptionError) in
            switch part {
            case .other(let box): output += fragments[box.range]
            case .fragment(let fragment):
                output += try fragment.rewritten(
                    fragments, payload: Array(fragments[fragment.mdat.content]), removing: ["pssh"], adding: [])
            }
        }
        return output
    }

    /// Whether a player can begin with these fragments: each track of video that is in them begins with a key frame, whatever their flags say, and
    /// there is one. A film without video begins anywhere.
    public func beginsAtKeyFrame(_ fragments: [UInt8]) throws(CommonEncryptionError) -> Bool {
        guard tracks.values.contains(where: { if case .video = $0 { true } else { false } }) else { return true }
        var begun: [UInt32: Bool] = [:]
        try FragmentWalk.walk(fragments, defaults) { (part) throws(CommonEncryptionError) in
            guard case .fragment(let fragment) = part else { return }
            for track in fragment.tracks where begun[track.id] == nil {
                guard case .video(let lengthSize, let headers) = tracks[track.id],
                    let sample = track.samples.first
                else { continue }
                begun[track.id] = try Self.isKeyFrame(fragments[sample], lengthSize, headers.codec)
            }
        }
        return !begun.isEmpty && begun.values.allSatisfy { $0 }
    }

    private static func isKeyFrame(
        _ sample: ArraySlice<UInt8>, _ lengthSize: Int, _ codec: VideoCodec
    ) throws(CommonEncryptionError) -> Bool {
        do throws(MediaError) {
            var units = LengthPrefixedUnits(sample, lengthSize: lengthSize)
            while let unit = try units.next() {
                let kind = codec.kind(ofNALUnit: unit)
                if kind.isPicture { return kind == .keyPicture }
            }
            return false
        } catch {
            throw .media(error, offset: sample.startIndex)
        }
    }

    private mutating func encrypt(
        _ fragment: MovieFragment, _ bytes: [UInt8]
    ) throws(CommonEncryptionError) -> [UInt8] {
        try fragment.checkCoverage()
        var payload = Array(bytes[fragment.mdat.content])
        let base = fragment.mdat.content.lowerBound
        var added: [[[Subsample]]?] = []
        for track in fragment.tracks {
            if let box = track.children.first(where: { ["senc", "saiz", "saio"].contains($0.kind) }) {
                throw box.fault(.alreadyProtected)
            }
            switch tracks[track.id] {
            case .video(let lengthSize, var headers):
                var samples: [[Subsample]] = []
                for sample in track.samples {
                    let range = (sample.lowerBound - base)..<(sample.upperBound - base)
                    samples.append(
                        try encrypt(&payload, range, lengthSize, &headers, offset: sample.lowerBound))
                }
                tracks[track.id] = .video(lengthSize: lengthSize, headers: headers)
                added.append(samples)
            case .audio:
                for sample in track.samples {
                    try chain(&payload, (sample.lowerBound - base)..<(sample.upperBound - base), .whole)
                }
                // Nothing is to be said of a sample that is encrypted as a whole under the track's IV (§7.1).
                added.append(nil)
            case nil:
                throw track.box.fault(.value(UInt64(track.id)))
            }
        }
        return try fragment.rewritten(bytes, payload: payload, removing: [], adding: added)
    }

    /// - Parameter offset: of the sample, for errors.
    private func encrypt(
        _ payload: inout [UInt8], _ range: Range<Int>, _ lengthSize: Int, _ headers: inout SliceHeaders, offset: Int
    ) throws(CommonEncryptionError) -> [Subsample] {
        let layout: [Subsample]
        do throws(MediaError) {
            layout = try SampleLayout.subsamples(payload[range], lengthSize: lengthSize, &headers)
        } catch {
            throw .media(error, offset: offset)
        }
        guard layout.count <= Subsample.limit else {
            throw .movie(.count(layout.count, limit: Subsample.limit), box: "senc", offset: offset)
        }
        var begin = range.lowerBound
        for part in layout {
            begin += Int(part.clear)
            let end = begin + Int(part.protected)
            try chain(&payload, begin..<end, .video)
            begin = end
        }
        return layout
    }

    private func chain(
        _ payload: inout [UInt8], _ range: Range<Int>, _ pattern: SamplePattern
    ) throws(CommonEncryptionError) {
        try pattern.apply(to: &payload, in: range) { (blocks) throws(CommonEncryptionError) in
            try cipher.encrypt(&blocks, iv: iv)
        }
    }
}

/// Decrypts what ``CBCSEncryptor`` encrypts, and what others encrypt in the same scheme with one IV for a track: `cbcs` of ISO/IEC 23001-7.
public struct CBCSDecryptor: Sendable {
    /// `ftyp` and `moov`, with the sample entries as they were.
    public let initSegment: [UInt8]
    /// default_KID of the protected tracks, each once.
    public let keyIDs: [[UInt8]]

    private let cipher: any BlockChaining
    private let defaults: [UInt32: MovieHeader.Defaults]
    /// Of tracks that are not here nothing is encrypted.
    private var schemes: [UInt32: ProtectionScheme] = [:]

    public init(initSegment: [UInt8], cipher: any BlockChaining) throws(CommonEncryptionError) {
        let header = try MovieHeader(initSegment)
        for track in header.tracks where ["encv", "enca"].contains(track.entry.box.kind) {
            let sinf = try track.entry.children.required("sinf", in: track.entry.box.range.lowerBound)
            schemes[track.id] = try ProtectionScheme(initSegment, sinf)
        }
        var keyIDs: [[UInt8]] = []
        for scheme in schemes.values where !keyIDs.contains(scheme.keyID) { keyIDs.append(scheme.keyID) }
        self.keyIDs = keyIDs
        let schemes = schemes
        self.initSegment = try header.rewritten(initSegment) { (track) throws(CommonEncryptionError) in
            guard let scheme = schemes[track.id] else { return nil }
            var content = Array(initSegment[track.entry.fields])
            for child in track.entry.children where child.kind != "sinf" { content += initSegment[child.range] }
            return try MovieBox.box(scheme.format, content)
        }
        defaults = header.defaults
        self.cipher = cipher
    }

    /// Decrypts `moof` with `mdat`, one or several.
    public func decrypt(_ fragments: [UInt8]) throws(CommonEncryptionError) -> [UInt8] {
        var output: [UInt8] = []
        output.reserveCapacity(fragments.count)
        try FragmentWalk.walk(fragments, defaults) { (part) throws(CommonEncryptionError) in
            switch part {
            case .other(let box): output += fragments[box.range]
            case .fragment(let fragment): output += try decrypt(fragment, fragments)
            }
        }
        return output
    }

    private func decrypt(_ fragment: MovieFragment, _ bytes: [UInt8]) throws(CommonEncryptionError) -> [UInt8] {
        var payload = Array(bytes[fragment.mdat.content])
        let base = fragment.mdat.content.lowerBound
        for track in fragment.tracks {
            guard let scheme = schemes[track.id] else { continue }
            let senc = try track.children.only("senc")
            let parts = try senc.flatMap { (box) throws(CommonEncryptionError) in
                try SampleAuxiliary.subsamples(bytes, box, samples: track.samples)
            }
            try SampleAuxiliary.check(
                bytes, track.children, senc: senc, parts, samples: track.samples.count, moof: fragment.moof)
            for (index, sample) in track.samples.enumerated() {
                var begin = sample.lowerBound - base
                guard let parts = parts?[index] else {
                    try chain(&payload, begin..<(begin + sample.count), scheme)
                    continue
                }
                for part in parts {
                    begin += Int(part.clear)
                    let end = begin + Int(part.protected)
                    try chain(&payload, begin..<end, scheme)
                    begin = end
                }
            }
        }
        return try fragment.rewritten(
            bytes, payload: payload, removing: ["senc", "saiz", "saio", "pssh"], adding: [])
    }

    private func chain(
        _ payload: inout [UInt8], _ range: Range<Int>, _ scheme: ProtectionScheme
    ) throws(CommonEncryptionError) {
        try scheme.pattern.apply(to: &payload, in: range) { (blocks) throws(CommonEncryptionError) in
            try cipher.decrypt(&blocks, iv: scheme.iv)
        }
    }
}

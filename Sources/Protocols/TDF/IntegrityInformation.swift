internal import Wire

extension TDFManifest {
    /// The list of segments, and the signature over it.
    public struct IntegrityInformation: Equatable, Sendable {
        public struct RootSignature: Codable, Equatable, Sendable {
            /// `HS256`
            public var algorithm: String
            /// Base64 of HMAC-SHA256(key, all GMACs in order), 32 bytes.
            public var signature: String

            private enum CodingKeys: String, CodingKey {
                case algorithm = "alg"
                case signature = "sig"
            }
        }

        public var rootSignature: RootSignature
        /// `GMAC`
        public var segmentHashAlgorithm: String
        /// Bytes; for segments that name no size of their own.
        public var segmentSizeDefault: Int
        public var encryptedSegmentSizeDefault: Int
        public var segments: [TDFSegmentEntry]
    }
}

extension TDFManifest.IntegrityInformation: Codable {
    private enum CodingKeys: String, CodingKey {
        case rootSignature, segmentSizeDefault, encryptedSegmentSizeDefault, segments
        case segmentHashAlgorithm = "segmentHashAlg"
    }

    private enum SegmentKeys: String, CodingKey {
        case hash, segmentSize, encryptedSegmentSize
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        rootSignature = try container.decode(RootSignature.self, forKey: .rootSignature)
        segmentHashAlgorithm = try container.decode(String.self, forKey: .segmentHashAlgorithm)
        segmentSizeDefault = try container.decode(Int.self, forKey: .segmentSizeDefault)
        encryptedSegmentSizeDefault = try container.decode(Int.self, forKey: .encryptedSegmentSizeDefault)
        segments = []
        var list = try container.nestedUnkeyedContainer(forKey: .segments)
        while !list.isAtEnd {
            guard segments.count < TDFManifest.maxSegments else {
                throw DecodingError.dataCorruptedError(
                    in: list, debugDescription: "more than \(TDFManifest.maxSegments) segments")
            }
            let segment = try list.nestedContainer(keyedBy: SegmentKeys.self)
            let gmac = try? Base64.decode(try segment.decode(String.self, forKey: .hash))
            guard let gmac, gmac.count == TDFSegmentEntry.gmacByteCount else {
                throw DecodingError.dataCorruptedError(
                    forKey: .hash, in: segment,
                    debugDescription: "it is not base64 of \(TDFSegmentEntry.gmacByteCount) bytes")
            }
            segments.append(
                TDFSegmentEntry(
                    clearSize: try segment.decodeIfPresent(Int.self, forKey: .segmentSize) ?? segmentSizeDefault,
                    encryptedSize: try segment.decodeIfPresent(Int.self, forKey: .encryptedSegmentSize)
                        ?? encryptedSegmentSizeDefault,
                    gmac: gmac))
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(rootSignature, forKey: .rootSignature)
        try container.encode(segmentHashAlgorithm, forKey: .segmentHashAlgorithm)
        try container.encode(segmentSizeDefault, forKey: .segmentSizeDefault)
        try container.encode(encryptedSegmentSizeDefault, forKey: .encryptedSegmentSizeDefault)
        var list = container.nestedUnkeyedContainer(forKey: .segments)
        for segment in segments {
            var entry = list.nestedContainer(keyedBy: SegmentKeys.self)
            try entry.encode(Base64.encode(segment.gmac), forKey: .hash)
            // Always both: otdf-python reads no defaults.
            try entry.encode(segment.clearSize, forKey: .segmentSize)
            try entry.encode(segment.encryptedSize, forKey: .encryptedSegmentSize)
        }
    }
}

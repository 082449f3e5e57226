/// A fault that WatchBox can name: `WB-nnnn`, the same number for ever.
///
/// 1xxx configuration, 2xxx cameras, 3xxx storage, 4xxx clock, TLS and KAS, 5xxx relay and network, 6xxx hardware and
/// power, 7xxx updates, 8xxx API and users.
public struct ErrorCode: Hashable, Sendable, RawRepresentable {
    /// 1000 to 8999.
    public let rawValue: UInt16

    public init?(rawValue: UInt16) {
        guard (1000...8999).contains(rawValue) else { return nil }
        self.rawValue = rawValue
    }

    /// For the catalog's own constants.
    init(_ number: UInt16) {
        rawValue = number
    }

    /// Reads `WB-2107`, `wb-2107` or `2107`; nil when the text is none of them.
    public init?(_ text: some StringProtocol) {
        let digits = text.lowercased().hasPrefix("wb-") ? String(text.dropFirst(3)) : String(text)
        guard digits.utf8.count == 4, let number = UInt16(digits) else { return nil }
        self.init(rawValue: number)
    }

    /// Its entry in the catalog; nil for a number that names nothing.
    public var entry: CatalogEntry? { Catalog.entry(of: self) }
}

extension ErrorCode: CustomStringConvertible {
    public var description: String { "WB-\(rawValue)" }
}

extension ErrorCode: Codable {
    public init(from decoder: any Decoder) throws {
        let text = try decoder.singleValueContainer().decode(String.self)
        guard let code = ErrorCode(text) else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: "is not a code like WB-2107"))
        }
        self = code
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}

/// What WatchBox says about one fault, wherever it is reported: `watchboxctl explain`, the journal's catalog, the
/// documentation.
public struct CatalogEntry: Equatable, Sendable {
    public enum Severity: String, Codable, Sendable, CaseIterable {
        case information
        case warning
        case error
        case critical
    }

    public let code: ErrorCode
    /// A few words, without a full stop: what is wrong.
    public let title: String
    /// Why this happens.
    public let cause: String
    /// What WatchBox does about it by itself.
    public let selfHealing: String
    /// What a person does next; names a command where one helps.
    public let hint: String
    public let severity: Severity
    /// 32 hexadecimal digits, for `journalctl -x`; made once at random, never changed.
    public let messageID: String
}

extension CatalogEntry {
    /// `next` for one camera: its ID in the place of `ID`, its relay's name in the place of `NAME` where a relay is
    /// meant. What only a person knows (a user's `NAME`, an `ADDRESS`) stays a placeholder.
    public func hint(camera id: String, relay: String? = nil) -> String {
        var text = hint
        if let relay {
            for command in ["relay show", "relay add"] {
                text = text.replacing("\(command) NAME", with: "\(command) \(relay)")
            }
        }
        let words = text.split(separator: " ", omittingEmptySubsequences: false).map { word in
            let isCamera = word.hasPrefix("ID") && word.dropFirst(2).allSatisfy(\.isPunctuation)
            return isCamera ? id + word.dropFirst(2) : String(word)
        }
        return words.joined(separator: " ")
    }
}

/// All entries, by number. Numbers that were retired stay in `retired`, so that none comes to mean something else.
public enum Catalog {
    public static let entries: [CatalogEntry] =
        configuration + cameras + storage + trust + network + hardware + interface

    public static let retired: [UInt16] = []

    static func entry(of code: ErrorCode) -> CatalogEntry? { byCode[code] }

    private static let byCode = Dictionary(entries.map { ($0.code, $0) }, uniquingKeysWith: { first, _ in first })
}

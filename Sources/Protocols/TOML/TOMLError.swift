internal import Wire

/// Where and why a document is not TOML, or more than the reader takes. Holds nothing of it but names of keys: values
/// may be secrets.
public struct TOMLError: Error, Equatable, Sendable {
    public var position: TOMLPosition
    public var reason: Reason

    public enum Reason: Equatable, Sendable {
        case tooLong(limit: Int)
        case tooManyKeys(limit: Int)
        case tooDeep(limit: Int)
        case controlCharacter
        /// A key, or the name of a table.
        case keyMissing
        case keyOfSeveralLines
        case equalsMissing
        case headerNotClosed
        case lineGoesOn
        case valueMissing
        /// Most often a string without quotation marks.
        case noValue
        case numberOutOfRange
        case noSuchTime
        case stringNotClosed
        case longStringNotClosed
        case unknownEscape
        case escapeTooShort(digits: Int)
        case escapeNamesNoCharacter
        case arrayNotContinued
        case inlineTableNotContinued
        /// The key has a value, or its table was defined.
        case redefined(path: [String])
        /// The key's value is complete where it was written: nothing can be added to it.
        case complete(path: [String])
    }
}

extension TOMLError.Reason: CustomStringConvertible {
    /// For a person, without a full stop. Names are shortened, and cannot speak to a terminal.
    public var description: String {
        switch self {
        case .tooLong(let limit): "the text has more than \(limit) bytes"
        case .tooManyKeys(let limit): "there are more than \(limit) keys and values"
        case .tooDeep(let limit): "keys and values are nested deeper than \(limit) levels"
        case .controlCharacter: "there is a control character; in a string in double quotes, write it as \\u00…"
        case .keyMissing: "a key is missing, or must be in quotes"
        case .keyOfSeveralLines: "a key must be on one line"
        case .equalsMissing: "an equals sign is missing after the key"
        case .headerNotClosed: "a table's header has no closing bracket"
        case .lineGoesOn: "the line goes on where it must end"
        case .valueMissing: "a value is missing"
        case .noValue: "this is not a value; a string must be in quotes"
        case .numberOutOfRange: "a number is too large"
        case .noSuchTime: "there is no such date or time"
        case .stringNotClosed: "a string has no closing quote on its line"
        case .longStringNotClosed: "a multi-line string has no end"
        case .unknownEscape:
            "a backslash comes before a character that it cannot escape; write \\\\, or use single quotes"
        case .escapeTooShort(let digits): "an escape needs \(digits) hexadecimal digits"
        case .escapeNamesNoCharacter: "an escape names no character"
        case .arrayNotContinued: "a comma or a closing bracket is missing"
        case .inlineTableNotContinued: "a comma or a closing brace is missing"
        case .redefined(let path): "`\(Self.shown(path))` is defined twice"
        case .complete(let path): "`\(Self.shown(path))` is complete, nothing can be added to it"
        }
    }

    private static func shown(_ path: [String]) -> String {
        var shown = String.UnicodeScalarView()
        var rest = 64
        for scalar in path.joined(separator: ".").unicodeScalars {
            guard rest > 0 else { return String(shown) + "…" }
            rest -= 1
            shown.append(ShownText.isPrintable(scalar) && scalar != "`" ? scalar : "\u{FFFD}")
        }
        return String(shown)
    }
}

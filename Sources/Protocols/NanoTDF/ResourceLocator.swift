internal import Wire

/// Where a KAS or a remote policy is, as a header names it (spec §3.3.1.2, §3.4.1).
///
/// A reader never follows it: it asks the KAS that it was configured with.
public struct ResourceLocator: Equatable, Sendable {
    /// The low nibble of the first byte.
    public enum Scheme: UInt8, Sendable {
        case http = 0
        case https = 1
        case ws = 2
        case wss = 3
        case sharedDirectory = 0xF
    }

    public let scheme: Scheme
    /// Everything after `://`: host, port, path. 1…255 bytes.
    public let body: [UInt8]
    /// The key identifier as it is on the wire: 0, 2, 8 or 32 bytes, padded on the right with zero bytes.
    public let paddedKeyIdentifier: [UInt8]

    /// - Parameters:
    ///   - body: everything after `://`, 1…255 bytes.
    ///   - keyIdentifier: 0…32 bytes; padded to the next of 0, 2, 8, 32.
    /// - Throws: `.invalid(.locatorLength, …)` or `.invalid(.keyIdentifierSize, …)`, offset 0.
    public init(scheme: Scheme, body: [UInt8], keyIdentifier: [UInt8] = []) throws(NanoTDFError) {
        guard (1...255).contains(body.count) else { throw .invalid(.locatorLength, offset: 0) }
        guard let size = Self.identifierSizes.first(where: { $0 >= keyIdentifier.count }) else {
            throw .invalid(.keyIdentifierSize, offset: 0)
        }
        self.scheme = scheme
        self.body = body
        paddedKeyIdentifier = keyIdentifier + [UInt8](repeating: 0, count: size - keyIdentifier.count)
    }

    /// From a URL as an operator writes it: `https://kas.example.net:8443/kas`. A trailing slash is dropped.
    /// - Throws: `.invalid(.locatorProtocol, …)` for another scheme than http or https.
    public init(url: String, keyIdentifier: [UInt8] = []) throws(NanoTDFError) {
        let text = url.utf8
        let https = Array("https://".utf8)
        let http = Array("http://".utf8)
        let scheme: Scheme
        var body: [UInt8]
        if text.starts(with: https) {
            scheme = .https
            body = Array(text.dropFirst(https.count))
        } else if text.starts(with: http) {
            scheme = .http
            body = Array(text.dropFirst(http.count))
        } else {
            throw .invalid(.locatorProtocol, offset: 0)
        }
        if body.last == UInt8(ascii: "/") { body.removeLast() }
        try self.init(scheme: scheme, body: body, keyIdentifier: keyIdentifier)
    }

    /// The identifier without its padding; empty when the locator has none.
    public var keyIdentifier: [UInt8] {
        let end = (paddedKeyIdentifier.lastIndex { $0 != 0 } ?? -1) + 1
        return Array(paddedKeyIdentifier[..<end])
    }

    /// `body` as text; bytes that aren't UTF-8 are replaced.
    public var text: String { String(decoding: body, as: UTF8.self) }

    static let identifierSizes = [0, 2, 8, 32]

    init(reading reader: inout FieldReader<NanoTDFError>) throws(NanoTDFError) {
        let start = reader.offset
        let first = try reader.readUInt8()
        guard let scheme = Scheme(rawValue: first & 0xF) else { throw .invalid(.locatorProtocol, offset: start) }
        guard Int(first >> 4) < Self.identifierSizes.count else { throw .invalid(.keyIdentifierSize, offset: start) }
        let length = Int(try reader.readUInt8())
        guard length > 0 else { throw .invalid(.locatorLength, offset: start + 1) }
        self.scheme = scheme
        body = Array(try reader.readBytes(length))
        paddedKeyIdentifier = Array(try reader.readBytes(Self.identifierSizes[Int(first >> 4)]))
    }

    func append(to output: inout [UInt8]) {
        let size = UInt8(Self.identifierSizes.firstIndex(of: paddedKeyIdentifier.count) ?? 0)
        output.append(size << 4 | scheme.rawValue)
        output.append(UInt8(body.count))
        output += body
        output += paddedKeyIdentifier
    }
}

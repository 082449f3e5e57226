internal import ONVIF
internal import Wire
internal import XMLReader

/// As much of SOAP as a search reads.
enum SOAPBody {
    /// What stands in the body of an envelope; nil for anything else.
    static func content(of document: [UInt8]) -> XMLElement? {
        var limits = XMLReader.Limits()
        limits.bytes = 64 * 1024
        limits.elements = 2000
        limits.depth = 32
        guard let root = try? XMLReader.parse(document[...], limits: limits), root.name == "Envelope" else {
            return nil
        }
        return root.child("Body")?.children.first
    }

    /// A fault that says that a login is missing, in SOAP 1.2 or 1.1.
    static func isRefusal(_ content: XMLElement) -> Bool {
        guard content.name == "Fault" else { return false }
        var code = content.child("Code") ?? content
        for _ in 0..<4 {
            if code.text("Value")?.hasSuffix("NotAuthorized") == true { return true }
            guard let deeper = code.child("Subcode") else { break }
            code = deeper
        }
        return content.text("faultcode")?.hasSuffix("NotAuthorized") == true
    }
}

/// What a device says of itself to whoever asks.
struct DeviceFacts: Equatable {
    var manufacturer: String?
    var model: String?
    var firmware: String?
    var serial: String?

    init(_ content: XMLElement) {
        manufacturer = Self.shown(content.text("Manufacturer"))
        model = Self.shown(content.text("Model"))
        firmware = Self.shown(content.text("FirmwareVersion"))
        serial = Self.shown(content.text("SerialNumber"))
    }

    /// Without what a terminal would obey, and no longer than a line.
    private static func shown(_ text: String?) -> String? {
        text.map { ShownText.cleaned($0, limit: 128) }
    }
}

internal import ONVIF
internal import XMLReader

/// As much of SOAP as a search reads.
enum SOAPBody {
    /// What is in an envelope; nil for what is not XML, or too much of it.
    static func answer(of document: [UInt8]) -> SOAPAnswer? {
        var limits = XMLReader.Limits()
        limits.bytes = 64 * 1024
        limits.elements = 2000
        limits.depth = 32
        return (try? XMLReader.parse(document[...], limits: limits)).map { SOAPAnswer($0) }
    }
}

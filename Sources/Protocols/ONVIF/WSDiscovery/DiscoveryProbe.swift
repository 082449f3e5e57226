/// The question "who is there?" to all devices of a network, or to one.
public enum DiscoveryProbe {
    /// What is asked for. None of the three is answered by all cameras.
    public enum Types: CaseIterable, Sendable {
        case networkVideoTransmitter
        case device
        /// No types at all: answered by everything that speaks WS-Discovery, printers included.
        case any

        var text: String {
            switch self {
            case .networkVideoTransmitter: "dn:NetworkVideoTransmitter"
            case .device: "tds:Device"
            case .any: ""
            }
        }
    }

    /// A Probe as one datagram: one line, with every namespace declared on the envelope, because cameras with parsers of
    /// their own answer nothing else.
    ///
    /// - Parameter messageID: a fresh UUID for each transmission, without a prefix: a device does not answer the same
    ///   message twice, even when its first answer was lost.
    public static func message(messageID: String, types: Types) -> [UInt8] {
        let names = [
            ("e", DiscoveryNames.envelope), ("w", DiscoveryNames.addressing), ("d", DiscoveryNames.discovery),
            ("dn", DiscoveryNames.network), ("tds", DiscoveryNames.device),
        ]
        let declared = names.map { "xmlns:\($0)=\"\($1)\"" }.joined(separator: " ")
        let header =
            "<w:MessageID>uuid:\(messageID)</w:MessageID>"
            + "<w:To e:mustUnderstand=\"true\">\(DiscoveryNames.everyTarget)</w:To>"
            + "<w:Action e:mustUnderstand=\"true\">\(DiscoveryNames.discovery)/Probe</w:Action>"
        let probe = types.text.isEmpty ? "<d:Probe/>" : "<d:Probe><d:Types>\(types.text)</d:Types></d:Probe>"
        let envelope = "<e:Envelope \(declared)><e:Header>\(header)</e:Header><e:Body>\(probe)</e:Body></e:Envelope>"
        return Array("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\(envelope)".utf8)
    }
}

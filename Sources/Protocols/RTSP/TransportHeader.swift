/// The Transport header of SETUP (RFC 2326 §12.39), as requested and as answered.
enum TransportHeader {
    static func interleaved(rtp: UInt8, rtcp: UInt8) -> String { "RTP/AVP/TCP;unicast;interleaved=\(rtp)-\(rtcp)" }

    static func udp(rtp: UInt16, rtcp: UInt16) -> String { "RTP/AVP;unicast;client_port=\(rtp)-\(rtcp)" }

    static let multicast = "RTP/AVP;multicast"

    /// What an answer says, whatever was asked for.
    struct Answer: Sendable {
        /// `RTP/AVP/TCP`, …, in upper case.
        var specification = ""
        var isMulticast = false
        /// Nil when the header has none, or one that is not a number up to 255.
        var channels: (rtp: UInt8, rtcp: UInt8)?
        var serverPorts: (rtp: UInt16, rtcp: UInt16)?
        var clientPorts: (rtp: UInt16, rtcp: UInt16)?
        /// Of multicast.
        var groupPorts: (rtp: UInt16, rtcp: UInt16)?
        var timeToLive: UInt8?
        var destination: String?
        var sourceAddress: String?
        var source: UInt32?

        /// - Parameter text: nil when the header is missing.
        init(_ text: String?) {
            // A list of transports would be an offer; the first one counts.
            guard let text, let first = HeaderParameters.split(text, at: UInt8(ascii: ",")).first else { return }
            let parameters = HeaderParameters(first)
            specification = parameters.items.first?.name.uppercased() ?? ""
            isMulticast = parameters["multicast"] != nil
            channels = parameters["interleaved"].flatMap { Self.pair($0, as: UInt8.self) }
            serverPorts = parameters["server_port"].flatMap { Self.pair($0, as: UInt16.self) }.flatMap(Self.ports)
            clientPorts = parameters["client_port"].flatMap { Self.pair($0, as: UInt16.self) }.flatMap(Self.ports)
            groupPorts = parameters["port"].flatMap { Self.pair($0, as: UInt16.self) }.flatMap(Self.ports)
            timeToLive = parameters["ttl"].flatMap { CameraText.number($0, as: UInt8.self) }
            destination = parameters["destination"].flatMap(Self.address)
            sourceAddress = parameters["source"].flatMap(Self.address)
            source = parameters["ssrc"].flatMap(Self.synchronizationSource)
        }

        /// `4-5`, or `4` for a camera that leaves the second one to be guessed.
        private static func pair<Number: FixedWidthInteger>(
            _ text: String, as: Number.Type
        ) -> (rtp: Number, rtcp: Number)? {
            let parts = text.split(separator: "-", maxSplits: 1)
            guard let first = parts.first, let rtp = CameraText.number(first, as: Number.self) else { return nil }
            if parts.count > 1 {
                guard let rtcp = CameraText.number(parts[1], as: Number.self), rtcp != rtp else { return nil }
                return (rtp, rtcp)
            }
            guard rtp < Number.max else { return nil }
            return (rtp, rtp + 1)
        }

        private static func ports(_ pair: (rtp: UInt16, rtcp: UInt16)) -> (rtp: UInt16, rtcp: UInt16)? {
            pair.rtp > 0 && pair.rtcp > 0 ? pair : nil
        }

        /// An address or a name, and nothing that could be anything else.
        private static func address(_ text: String) -> String? {
            let text = CameraText.trimmed(text)
            guard !text.isEmpty, text.utf8.count <= 255,
                text.utf8.allSatisfy({ byte in
                    (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
                        || [UInt8(ascii: "."), UInt8(ascii: ":"), UInt8(ascii: "-")].contains(byte)
                })
            else { return nil }
            return text
        }

        /// Eight hexadecimal digits, or fewer.
        private static func synchronizationSource(_ text: String) -> UInt32? {
            let text = CameraText.trimmed(text)
            guard !text.isEmpty, text.utf8.first != UInt8(ascii: "-"), text.utf8.first != UInt8(ascii: "+") else {
                return nil
            }
            return UInt32(text, radix: 16)
        }
    }
}

internal import Logging
internal import ONVIF
internal import Platform
internal import Wire
internal import XMLReader

/// The datagrams of a search: Probes to the group on each network and to single addresses, and the answers. Used by one
/// thread.
final class MulticastProbing {
    struct Answer {
        var target: DiscoveredTarget
        /// The interface; empty for an answer to a Probe to a single address.
        var network: String
    }

    private struct Channel {
        var socket: DatagramSocket
        var network: String
        /// Nil for the one that asks single addresses.
        var group: SocketAddress?
        /// Why no Probe has gone out so far.
        var failure: String?
        var hasSent = false
    }

    /// Answers that one search reads.
    static let answerLimit = 20_000
    /// Answers that are read before others have a turn.
    static let turn = 64

    private var channels: [Channel] = []
    private var buffer = [UInt8](repeating: 0, count: 65_536)
    private var answers = 0
    private var notes: [String] = []
    private let logger: Logger

    init(_ plan: SearchPlan, asksSingleAddresses: Bool, logger: Logger) {
        self.logger = logger
        for probe in plan.probes {
            do throws(DatagramSocket.Failure) {
                let host = probe.address == nil ? DiscoveryNames.group6 : DiscoveryNames.group
                let zone = probe.address == nil ? probe.interface.index : 0
                let socket = try DatagramSocket.multicast(on: probe.interface, address: probe.address)
                let group = SocketAddress(host: host, port: DiscoveryNames.port, zone: zone)
                channels.append(Channel(socket: socket, network: probe.interface.name, group: group))
            } catch {
                note("\(probe.interface.name) is not searched: \(error.text)")
            }
        }
        guard asksSingleAddresses else { return }
        do throws(DatagramSocket.Failure) {
            channels.append(Channel(socket: try DatagramSocket.unicast(), network: "", group: nil))
        } catch {
            note("addresses are not asked for ONVIF: \(error.text)")
        }
    }

    var descriptors: [Int32] { channels.map(\.socket.descriptor) }

    /// To the group, on every network.
    func send(_ types: DiscoveryProbe.Types) {
        for index in channels.indices {
            guard let group = channels[index].group else { continue }
            if let failure = channels[index].socket.send(Self.message(types), to: group) {
                channels[index].failure =
                    "\(channels[index].network) (\(group.isIPv4 ? "IPv4" : "IPv6")): \(failure.text)"
            } else {
                channels[index].hasSent = true
            }
        }
    }

    /// What was left out and why. A network that came up just now may refuse the first Probe and take the second.
    var problems: [String] {
        notes + channels.compactMap { $0.hasSent ? nil : $0.failure.map { "not asked: \($0)" } }
    }

    /// To one address. What cannot be sent is reported once for all of them: the scan's own connection goes there as well.
    func ask(_ address: SocketAddress) {
        guard let channel = channels.last, channel.group == nil else { return }
        let target = SocketAddress(address.family, port: DiscoveryNames.port)
        for types in [DiscoveryProbe.Types.networkVideoTransmitter, .any] {
            if let failure = channel.socket.send(Self.message(types), to: target) {
                logger.debug("No Probe went to an address", metadata: ["reason": "\(failure.text)"])
                return
            }
        }
    }

    /// What has come since.
    func receive() -> [Answer] {
        var found: [Answer] = []
        for channel in channels {
            for _ in 0..<Self.turn {
                guard let (count, source) = channel.socket.receive(into: &buffer) else { break }
                guard answers < Self.answerLimit else {
                    note("more than \(Self.answerLimit) answers came; the rest was not read")
                    break
                }
                answers += 1
                guard let message = Datagram.message(buffer[..<count], source: source, logger: logger) else { continue }
                guard case .matches(let targets) = message.content else { continue }
                found += targets.map { Answer(target: $0, network: channel.network) }
            }
        }
        return found
    }

    private func note(_ problem: String) {
        guard notes.count < 16, !notes.contains(problem) else { return }
        notes.append(problem)
        logger.notice("A search leaves something out", metadata: ["reason": "\(problem)"])
    }

    private static func message(_ types: DiscoveryProbe.Types) -> [UInt8] {
        DiscoveryProbe.message(messageID: "\(RandomUUID())", types: types)
    }
}

/// Reads datagrams of WS-Discovery.
enum Datagram {
    private static let limits: XMLReader.Limits = {
        var limits = XMLReader.Limits.datagram
        // A recorder announces many cameras in one message.
        limits.textBytes = limits.bytes
        return limits
    }()

    /// Nil for what is invalid.
    static func message(_ bytes: ArraySlice<UInt8>, source: SocketAddress, logger: Logger) -> DiscoveryMessage? {
        do {
            return try DiscoveryMessage.parse(try XMLReader.parse(bytes, limits: limits), source: source.host)
        } catch {
            logger.debug(
                "A datagram is not a WS-Discovery message",
                metadata: ["source": "\(source.host)", "reason": "\(error)"])
            return nil
        }
    }
}

internal import Glibc
internal import Logging
internal import ONVIF
internal import Platform

/// The work of a listener, on its thread.
final class ListenerWork {
    /// One interface, and one family of addresses on it.
    private struct Place: Hashable {
        var name: String
        var index: UInt32
        var isIPv4: Bool
    }

    private struct Ear {
        var socket: DatagramSocket
        /// Of the interface; when they change, the kernel may have forgotten that the group was joined.
        var addresses: [String]
        var opened: UInt64
    }

    /// A membership can be lost unseen, when an address goes and comes between two looks.
    private static let renewal: UInt64 = 600_000_000_000
    /// Messages that are read before others have a turn.
    private static let turn = 64

    private let rescanInterval: UInt64
    private let interfaces: [String]?
    private let wakeup: Wakeup
    private let logger: Logger
    private let changed: @Sendable ((inout AnnouncementListener.Status) -> Void) -> Void

    private var ears: [Place: Ear] = [:]
    private var nearby = NearbyAddresses()
    private var problem: String?
    private var rate: AnnouncementRate
    private var recent = RecentMessages()
    private var buffer = [UInt8](repeating: 0, count: 65_536)
    private var dropped: UInt64 = 0
    private var isFloodReported = false

    init(
        rescanInterval: UInt64, interfaces: [String]?, wakeup: Wakeup, logger: Logger,
        changed: @escaping @Sendable ((inout AnnouncementListener.Status) -> Void) -> Void
    ) {
        self.rescanInterval = max(rescanInterval, 100_000_000)
        self.interfaces = interfaces
        self.wakeup = wakeup
        self.logger = logger
        self.changed = changed
        rate = AnnouncementRate(at: Clocks.monotonic)
    }

    /// - Parameter pass: false when there was no taker.
    func run(_ pass: (Announcement) -> Bool) {
        defer { changed { $0.networks = [] } }
        var nextScan: UInt64 = 0
        while !wakeup.isStopped {
            var now = Clocks.monotonic
            if now >= nextScan {
                rescan(at: now)
                nextScan = now + rescanInterval
            }
            let places = Array(ears.keys)
            var waits = [pollfd(fd: wakeup.descriptor, events: Int16(POLLIN), revents: 0)]
            for place in places {
                waits.append(pollfd(fd: ears[place]?.socket.descriptor ?? -1, events: Int16(POLLIN), revents: 0))
            }
            let count = poll(&waits, nfds_t(waits.count), wakeup.milliseconds(until: nextScan, from: now))
            guard count > 0, !wakeup.isStopped else { continue }
            now = Clocks.monotonic
            for (place, wait) in zip(places, waits.dropFirst()) where wait.revents != 0 {
                guard let socket = ears[place]?.socket else { continue }
                for _ in 0..<Self.turn {
                    guard let (count, source) = socket.receive(into: &buffer) else { break }
                    take(buffer[..<count], from: source, on: place.name, at: now, pass)
                }
            }
        }
    }

    private func rescan(at now: UInt64) {
        isFloodReported = false
        let found: [NetworkInterfaces.Interface]
        do {
            found = try NetworkInterfaces.list()
        } catch {
            report(problem: error.description)
            return
        }
        nearby = NearbyAddresses(found)
        var kept: Set<Place> = []
        var failures: [String] = []
        for interface in found where isMeant(interface) {
            for isIPv4 in [true, false] {
                let addresses = isIPv4 ? interface.ipv4.map(\.address) : [interface.ipv6LinkLocal].compactMap { $0 }
                guard !addresses.isEmpty else { continue }
                let place = Place(name: interface.name, index: interface.index, isIPv4: isIPv4)
                if let ear = ears[place], ear.addresses == addresses, now - ear.opened < Self.renewal {
                    kept.insert(place)
                    continue
                }
                ears[place] = nil
                do throws(DatagramSocket.Failure) {
                    let socket = try DatagramSocket.listener(on: interface, isIPv4: isIPv4)
                    ears[place] = Ear(socket: socket, addresses: addresses, opened: now)
                    kept.insert(place)
                } catch {
                    failures.append("\(interface.name) (\(isIPv4 ? "IPv4" : "IPv6")): \(message(error))")
                }
            }
        }
        for place in ears.keys where !kept.contains(place) { ears[place] = nil }
        let names = Set(ears.keys.map(\.name)).sorted()
        changed { $0.networks = names }
        if failures.isEmpty {
            report(problem: ears.isEmpty ? "no network is up that devices could announce themselves on" : nil)
        } else {
            report(problem: failures.prefix(4).joined(separator: "; "))
        }
    }

    private func isMeant(_ interface: NetworkInterfaces.Interface) -> Bool {
        guard let interfaces else { return interface.isSearchable }
        return interfaces.contains(interface.name)
    }

    private func message(_ failure: DatagramSocket.Failure) -> String {
        guard failure.errno == EADDRINUSE else { return failure.text }
        return
            "another program keeps UDP port \(DiscoveryNames.port) for itself; see which: ss -ulpn sport = \(DiscoveryNames.port)"
    }

    /// Once per change, as it is looked at again and again.
    private func report(problem now: String?) {
        guard now != problem else { return }
        problem = now
        changed { $0.problem = now }
        if let now {
            logger.warning("Announcements of cameras are not heard everywhere", metadata: ["reason": "\(now)"])
        } else {
            logger.info("Announcements of cameras are heard")
        }
    }

    private func take(
        _ bytes: ArraySlice<UInt8>, from source: SocketAddress, on network: String, at now: UInt64,
        _ pass: (Announcement) -> Bool
    ) {
        // No camera is asked at an address of the Internet because of a datagram that names it as its sender.
        guard nearby.contains(source) else { return drop() }
        let host = source.host
        guard rate.allows(host, at: now) else { return drop() }
        let begin = Clocks.thread
        let read = Datagram.message(bytes, source: source, logger: logger)
        rate.spent(Clocks.thread &- begin, by: host)
        guard let message = read else { return }
        let kind: Announcement.Kind
        let target: DiscoveredTarget
        switch message.content {
        case .hello(let device): (kind, target) = (.hello, device)
        case .bye(let device): (kind, target) = (.bye, device)
        case .matches, .other: return
        }
        guard let endpoint = target.endpoint, recent.isNew(messageID: message.messageID, source: host) else { return }
        let announcement = Announcement(
            kind: kind, endpoint: endpoint, address: host, url: target.addresses.first, network: network,
            name: target.name, hardware: target.hardware)
        // Counted before its reader can look.
        changed { $0.heard &+= 1 }
        if !pass(announcement) { drop() }
    }

    private func drop() {
        dropped &+= 1
        let count = dropped
        changed { $0.dropped = count }
        guard !isFloodReported else { return }
        isFloodReported = true
        logger.notice("More announcements came than are read", metadata: ["dropped": "\(count)"])
    }
}

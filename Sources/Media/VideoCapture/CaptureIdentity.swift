/// What a camera is known by when its number changes: it was unplugged, or the machine started again.
///
/// A serial number decides where there is one: another camera at the same port is another camera. Makers exist that
/// give all their devices one number; once two of them were seen together, the port decides alone, and so it does
/// without a serial number. The link under by-id decides nothing: without a serial number it is one per model, and udev
/// lets it point to the twin as soon as this camera is away.
public struct CaptureIdentity: Codable, Equatable, Sendable {
    public var card: String
    public var bus: String
    public var serial: String?
    public var stableID: String?
    /// Of several nodes of one device.
    public var index: Int
    /// Two cameras with this card and this serial number were seen at the same time.
    public var isSerialShared: Bool

    public init(
        card: String, bus: String, serial: String? = nil, stableID: String? = nil, index: Int = 0,
        isSerialShared: Bool = false
    ) {
        self.card = card
        self.bus = bus
        self.serial = serial
        self.stableID = stableID
        self.index = index
        self.isSerialShared = isSerialShared
    }

    public init(_ node: CaptureNode) {
        self.init(
            card: node.card, bus: node.bus, serial: node.serial, stableID: node.stableID, index: node.index)
    }

    /// - Parameter nodes: all that the machine shows, `node` itself among them or not.
    public init(_ node: CaptureNode, among nodes: [CaptureNode]) {
        self.init(node)
        seen(nodes + [node])
    }

    /// Learns from a look at all nodes whether the serial number is shared; what was learned once stays.
    ///
    /// One camera at another port may be this one, which was plugged there. Two at the same time cannot.
    public mutating func seen(_ nodes: [CaptureNode]) {
        guard let serial, !isSerialShared else { return }
        let bearers = nodes.filter { node in
            node.serial == serial && node.index == index && (node.card == card || node.isUnasked)
        }
        isSerialShared = Set(bearers.map(\.port)).count > 1
    }

    /// Whether `node` shows this camera, at this or, where the serial number shows it, at another port.
    ///
    /// The link under by-id is not compared: udev makes it some time after the node.
    public func isSame(as node: CaptureNode) -> Bool {
        guard node.card == card, node.index == index, node.serial == serial else { return false }
        return node.bus == bus || !isBusDeciding
    }

    /// The identity for `node`, which is used now: the port is its port, and of the same camera stays known what `node`
    /// does not say. Of another camera only that is kept that its serial number is a shared one.
    public func enriched(by node: CaptureNode) -> CaptureIdentity {
        var new = CaptureIdentity(node)
        let hasLostSerial = node.serial == nil && node.card == card && node.index == index && node.bus == bus
        if isSame(as: node) || hasLostSerial {
            new.serial = node.serial ?? serial
            new.stableID = node.stableID ?? stableID
        }
        new.isSerialShared = isSerialShared && new.serial == serial && new.card == card
        return new
    }

    /// The one of `nodes` that this was; nil when it is not there, or when two could be it.
    public func match(among nodes: [CaptureNode]) -> CaptureNode? {
        let possible = nodes.filter { node in
            if case .rejected = node.verdict { return false }
            return isSame(as: node)
        }
        if possible.count == 1 { return possible[0] }
        let atPort = possible.filter { $0.bus == bus }
        return atPort.count == 1 ? atPort[0] : nil
    }

    private var isBusDeciding: Bool { serial == nil || isSerialShared }
}

extension CaptureNode {
    /// What could not be opened is known by sysfs' name of it, which need not be the driver's.
    fileprivate var isUnasked: Bool {
        if case .unknown = verdict { return true }
        return bus == subsystem
    }

    /// `bus` comes from the driver only when it was asked; the kernel's name of the port is always the same.
    fileprivate var port: String { usbPort ?? bus }
}

internal import CameraModel
internal import ONVIF
internal import ONVIFClient
internal import Platform
internal import Synchronization

extension SharedState {
    private static let maxEvents = 32
    private static let maxTextLength = 256

    /// Nil without ONVIF.
    func followEvents() -> Task<Void, Never>? {
        guard let device = device.withLock({ $0 }) else { return nil }
        return Task {
            for await event in device.device.events() {
                heard(event)
            }
        }
    }

    func heard(_ event: EventNotification) {
        var event = event
        // What is reported no more has ended, whatever its last state was.
        if event.operation == .deleted { event.isActive = false }
        let kind = SensorEvent.Kind(rawValue: event.kind)
        // What was so when the subscription began did not happen now. What moves still moves, and what has ended meanwhile is over.
        let isBeginning = event.operation == .initialized
        if let kind, !isBeginning || event.isActive == false || kind == .motion && event.isActive == true {
            let source = event.sourceName.map { String($0.prefix(Self.maxTextLength)) }
            let observer = sensors.withLock { $0 }
            observer?(SensorEvent(kind: kind, isActive: event.isActive, source: source))
        }
        if !isBeginning { note(event) }
    }

    func note(_ event: EventNotification) {
        let realtime = Clocks.wall / 1000
        change { _, network in
            network.eventCount &+= 1
            network.events.append(
                NetworkStatistics.Event(
                    number: network.eventCount, kind: String(event.kind.prefix(Self.maxTextLength)),
                    topic: String(event.topic.prefix(Self.maxTextLength)), isActive: event.isActive,
                    source: event.sourceName.map { String($0.prefix(Self.maxTextLength)) },
                    realtimeMicroseconds: realtime))
            if network.events.count > Self.maxEvents {
                network.events.removeFirst(network.events.count - Self.maxEvents)
            }
        }
    }
}

extension NetworkStatistics.State {
    init(_ state: PullSupervision.State) {
        self =
            switch state {
            case .connecting: .connecting
            case .live: .live
            case .stalled: .stalled
            case .waiting: .waiting
            case .refused: .refused
            }
    }
}

extension CaptureStatistics {
    /// A declared wait, with its reason.
    mutating func waits(because fault: PullFault, camera: String) {
        state = .waiting
        reason = fault.message(for: camera)
        code = fault.code
    }
}

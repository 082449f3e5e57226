internal import CameraModel
internal import ONVIF
internal import ONVIFClient

extension SharedState {
    private static let mostEvents = 32
    private static let longestText = 256

    func note(_ event: EventNotification) {
        let realtime = Monotonic.wall / 1000
        change { _, network in
            network.eventCount &+= 1
            network.events.append(
                NetworkStatistics.Event(
                    number: network.eventCount, kind: String(event.kind.prefix(Self.longestText)),
                    topic: String(event.topic.prefix(Self.longestText)), isActive: event.isActive,
                    realtimeMicroseconds: realtime))
            if network.events.count > Self.mostEvents {
                network.events.removeFirst(network.events.count - Self.mostEvents)
            }
        }
    }
}

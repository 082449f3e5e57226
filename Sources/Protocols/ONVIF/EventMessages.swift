/// Requests about a device's events by PullPoint, and their answers (ONVIF Core §9, WS-BaseNotification).
public enum EventMessages {
    /// A subscription, as the answer to its creation describes it.
    public struct Subscription: Equatable, Sendable {
        public var reference: EndpointReference
        /// Milliseconds until it ends, by the difference of the device's two times; nil when it did not say both.
        public var lifetime: Int64?

        /// - Parameter response: `CreatePullPointSubscriptionResponse`; nil without an address.
        public init?(_ response: XMLElement) {
            guard let reference = response.child("SubscriptionReference").flatMap({ EndpointReference($0) }) else {
                return nil
            }
            self.reference = reference
            lifetime = EventMessages.lifetime(response)
        }
    }

    /// When a subscription is to end.
    public enum Termination: Equatable, Sendable {
        case afterSeconds(Int)
        /// For devices that do not understand the other: by their own clock, in milliseconds since 1970.
        case at(Int64)

        var text: String {
            switch self {
            case .afterSeconds(let seconds): "PT\(min(max(seconds, 1), 86_400))S"
            case .at(let milliseconds): CivilTime(secondsSince1970: milliseconds / 1000).zulu
            }
        }
    }

    /// Messages that are taken from one answer, and asked for.
    public static let messageLimit = 100

    public static func create(_ termination: Termination) -> ONVIFRequest {
        ONVIFRequest(
            ONVIFNames.events, "CreatePullPointSubscription",
            action: "\(ONVIFNames.events)/EventPortType/CreatePullPointSubscriptionRequest",
            "<tev:InitialTerminationTime>\(termination.text)</tev:InitialTerminationTime>")
    }

    /// - Parameter seconds: how long the device may wait for something to report.
    public static func pull(_ reference: EndpointReference, seconds: Int) -> ONVIFRequest {
        var request = ONVIFRequest(
            ONVIFNames.events, "PullMessages",
            action: "\(ONVIFNames.events)/PullPointSubscription/PullMessagesRequest",
            "<tev:Timeout>PT\(min(max(seconds, 1), 600))S</tev:Timeout><tev:MessageLimit>\(messageLimit)</tev:MessageLimit>"
        )
        request.endpoint = reference
        return request
    }

    public static func renew(_ reference: EndpointReference, _ termination: Termination) -> ONVIFRequest {
        var request = ONVIFRequest(
            ONVIFNames.notification, "Renew",
            action: "http://docs.oasis-open.org/wsn/bw-2/SubscriptionManager/RenewRequest",
            "<wsnt:TerminationTime>\(termination.text)</wsnt:TerminationTime>")
        request.endpoint = reference
        return request
    }

    public static func unsubscribe(_ reference: EndpointReference) -> ONVIFRequest {
        var request = ONVIFRequest(
            ONVIFNames.notification, "Unsubscribe",
            action: "http://docs.oasis-open.org/wsn/bw-2/SubscriptionManager/UnsubscribeRequest")
        request.endpoint = reference
        return request
    }

    /// Milliseconds from the device's present time to the end of the subscription, of any answer about one.
    public static func lifetime(_ response: XMLElement) -> Int64? {
        guard let now = response.text("CurrentTime").flatMap({ TimeText.dateTime($0) }),
            let end = response.text("TerminationTime").flatMap({ TimeText.dateTime($0) }), end > now
        else { return nil }
        return end - now
    }

    /// Of an answer to PullMessages.
    public static func notifications(_ response: XMLElement) -> [EventNotification] {
        response.children(named: "NotificationMessage").prefix(messageLimit).compactMap { EventNotification($0) }
    }
}

extension EventNotification {
    /// - Parameter element: `NotificationMessage`; nil without a topic.
    public init?(_ element: XMLElement) {
        guard let topic = element.text("Topic").map({ SOAPAnswer.printable($0, 128) }), !topic.isEmpty else {
            return nil
        }
        let message = element.descendant("Message", "Message")
        let data = Self.items(message?.child("Data"))
        self.init(
            topic: topic, kind: Self.kind(ofTopic: topic), isActive: Self.activity(data),
            operation: message?.attribute("PropertyOperation").flatMap { Operation(rawValue: $0) },
            time: message?.attribute("UtcTime").flatMap { TimeText.dateTime($0) })
        for (name, value) in Self.items(message?.child("Source")) where source[name] == nil { source[name] = value }
    }

    private static func items(_ element: XMLElement?) -> [(name: String, value: String)] {
        element?.children(named: "SimpleItem").prefix(16).compactMap { item in
            guard let name = item.attribute("Name"), let value = item.attribute("Value") else { return nil }
            return (SOAPAnswer.printable(name, 64), SOAPAnswer.printable(value, 128))
        } ?? []
    }

    /// What cameras that tell people, cars and animals apart say in place of motion: RuleEngine/MyRuleDetector/PeopleDetect.
    private static let seen = [
        "/peopledetect", "/facedetect", "/vehicledetect", "/dogcatdetect", "/people", "/vehicle",
    ]

    static func kind(ofTopic topic: String) -> String {
        let lower = topic.lowercased()
        if lower.contains("tamper") || lower.contains("globalscenechange") { return "tamper" }
        // Device/Trigger/DigitalInput, Device/IO/…
        if lower.contains("digitalinput") { return "digitalInput" }
        if lower.contains("motion") || seen.contains(where: { lower.hasSuffix($0) }) { return "motion" }
        let last = topic.split(separator: "/").last?.split(separator: ":").last ?? ""
        return last.isEmpty ? topic : String(last)
    }

    /// `IsMotion`, `State` and their like say it in a word or a digit; anything else only in a word, since "1" may count.
    private static func activity(_ data: [(name: String, value: String)]) -> Bool? {
        let flags = ["ismotion", "istamper", "state", "active", "logicalstate", "motion", "motionactive", "isinside"]
        for (name, value) in data where flags.contains(name.lowercased()) {
            switch value.lowercased() {
            case "true", "1": return true
            case "false", "0": return false
            default: break
            }
        }
        for (_, value) in data where ["true", "false"].contains(value.lowercased()) {
            return value.lowercased() == "true"
        }
        return nil
    }
}

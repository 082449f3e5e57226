import RTMP

@testable import Relay

/// What a test's hub makes of a message instead of chunks.
struct Sent: Equatable, Sendable {
    var type: MessageType
    var time: UInt32
    var payload: [UInt8]

    init(_ type: MessageType, _ time: UInt32, _ payload: [UInt8]) {
        self.type = type
        self.time = time
        self.payload = payload
    }
}

typealias TestHub = StreamHub<Sent>

/// Message bodies as a publisher sends them.
enum Body {
    static func string(_ text: String) -> [UInt8] { [2, 0, UInt8(text.utf8.count)] + text.utf8 }

    /// An ECMA array with one number under `name`.
    static func metadata(_ name: String = "width", setDataFrame: Bool = true) -> [UInt8] {
        (setDataFrame ? string("@setDataFrame") : []) + string("onMetaData") + [
            8, 0, 0, 0, 1, 0, UInt8(name.utf8.count),
        ]
            + name.utf8 + [0, 0x40, 0x94, 0, 0, 0, 0, 0, 0, 0, 0, 9]
    }

    static let videoHeader: [UInt8] = [0x17, 0, 0, 0, 0, 1, 0x64, 0, 0x1F]
    static let audioHeader: [UInt8] = [0xAF, 0, 0x11, 0x90]
    static func ntdfHeader(_ tag: UInt8 = 1) -> [UInt8] {
        [0x17, 2, 0, 0, 0, 0x4E, 0x54, 0x44, 0x46, 0, 3, 0x4C, 0x31, tag]
    }
    static func key(_ tag: UInt8 = 0, size: Int = 1) -> [UInt8] {
        [0x17, 1, 0, 0, 0] + [UInt8](repeating: tag, count: size)
    }
    static func inter(_ tag: UInt8 = 0, size: Int = 1) -> [UInt8] {
        [0x27, 1, 0, 0, 0] + [UInt8](repeating: tag, count: size)
    }
    static func audio(_ tag: UInt8 = 0) -> [UInt8] { [0xAF, 1, tag] }
}

extension UInt64 {
    static func milliseconds(_ count: UInt64) -> UInt64 { count * 1_000_000 }
    static func seconds(_ count: UInt64) -> UInt64 { count * 1_000_000_000 }
}

extension StreamHub where Encoded == Sent {
    static func make(
        authorization: PublishAuthorization = .open, _ change: (inout RelayLimits) -> Void = { _ in }
    ) -> TestHub {
        var limits = RelayLimits()
        change(&limits)
        return TestHub(limits: limits, authorization: authorization) { Sent($0, $1, Array($2)) }
    }

    mutating func publish(
        _ id: ConnectionID, key: String? = nil, name: String = "cam", at now: UInt64 = 0
    ) -> [Action] {
        publishRequested(id, app: "live", name: name, key: key, at: now)
    }

    mutating func play(_ id: ConnectionID, name: String = "cam", at now: UInt64 = 0) -> [Action] {
        playRequested(id, app: "live", name: name, at: now)
    }

    mutating func video(_ body: [UInt8], _ time: UInt32 = 0, from id: ConnectionID = 1, at now: UInt64 = 0) {
        received(RTMPMessage(type: .video, timestamp: time, streamID: 1, payload: body), from: id, at: now)
        handOut(at: now)
    }

    mutating func audio(_ body: [UInt8], _ time: UInt32 = 0, from id: ConnectionID = 1, at now: UInt64 = 0) {
        received(RTMPMessage(type: .audio, timestamp: time, streamID: 1, payload: body), from: id, at: now)
        handOut(at: now)
    }

    mutating func data(_ body: [UInt8], _ time: UInt32 = 0, from id: ConnectionID = 1, at now: UInt64 = 0) {
        received(RTMPMessage(type: .dataAMF0, timestamp: time, streamID: 1, payload: body), from: id, at: now)
        handOut(at: now)
    }

    /// As the driver does it after each read and when time has passed. An outlet of a test sees the last message of a
    /// batch.
    mutating func handOut(at now: UInt64) {
        for delivery in takeDue(at: now) {
            let last = delivery.items[delivery.items.count - 1].message.encoded
            for subscriber in delivery.offer(last) { enqueue(delivery.items, for: subscriber) }
        }
    }

    /// Everything that waits for `id`, as a connection with endless room takes it; what waits for a frame as well.
    mutating func drain(_ id: ConnectionID, at now: UInt64 = 0) -> [Sent] {
        handOut(at: .max - 1)
        var taken: [Sent] = []
        while let next = dequeue(for: id, at: now) { taken.append(next) }
        return taken
    }
}

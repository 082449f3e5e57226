internal import CSystemd
internal import Glibc
internal import Platform

/// One connection to the bus; used by the bus' thread alone.
final class BusConnection {
    /// What came in.
    enum Event {
        case reply(UnitDialogue.Tag, UnitDialogue.Reply)
        case jobRemoved(UnitDialogue.RemovedJob)
    }

    private static let isLoaded = watchbox_systemd_load() != 0

    private let bus: OpaquePointer
    private var asked: [UInt64: (tag: UnitDialogue.Tag, request: UnitDialogue.Request)] = [:]

    private init(_ bus: OpaquePointer) {
        self.bus = bus
    }

    deinit { watchbox_bus_close(bus) }

    /// Begins to connect, and asks the bus for PID 1's `JobRemoved` signals before anything else is sent.
    static func open(_ address: String) throws(SystemdError) -> BusConnection {
        guard isLoaded else { throw .unavailable("libsystemd.so.0 cannot be loaded") }
        var bus: OpaquePointer?
        let result = watchbox_bus_open(address, &bus)
        guard result >= 0, let bus else {
            throw .unavailable("the system bus: \(SystemMessage.text(-result))")
        }
        let connection = BusConnection(bus)
        let rule =
            "type='signal',sender='\(systemd)',interface='\(manager)',member='JobRemoved',path='\(managerPath)'"
        _ = try connection.call(daemon, daemonPath, daemon, "AddMatch", [.text(rule)])
        return connection
    }

    func send(_ request: UnitDialogue.Request, _ tag: UnitDialogue.Tag) throws(SystemdError) {
        let cookie =
            switch request {
            case .subscribe: try callManager("Subscribe", [])
            case .call(.job(let verb, let unit)): try callManager(verb.member, [.text(unit), .text(verb.mode)])
            case .call(.resetFailed(let unit)): try callManager("ResetFailedUnit", [.text(unit)])
            case .call(.state(let unit)): try callManager("LoadUnit", [.text(unit)])
            case .call(.units(let pattern)): try callManager("ListUnitsByPatterns", [.list(nil), .list(pattern)])
            case .owner: try call(Self.daemon, Self.daemonPath, Self.daemon, "GetNameOwner", [.text(Self.systemd)])
            // The one service that is started for it: it ends by itself when it is not asked.
            case .call(.isClockSynchronised):
                try call(
                    Self.timeService, Self.timeServicePath, "org.freedesktop.DBus.Properties", "Get",
                    [.text(Self.timeService), .text("NTPSynchronized")], startsService: true)
            // No interface: all properties of all of them, read by PID 1 at one moment.
            case .properties(let path):
                try call(Self.systemd, path, "org.freedesktop.DBus.Properties", "GetAll", [.text("")])
            }
        if tag.call != 0 { asked[cookie] = (tag, request) }
    }

    /// The next thing that came; nil when there is nothing now. Also sends what still waits.
    ///
    /// - Throws: `.unavailable` when the connection is gone.
    func next() throws(SystemdError) -> Event? {
        while true {
            var raw: OpaquePointer?
            let result = watchbox_bus_process(bus, &raw)
            guard result >= 0 else { throw .unavailable("the system bus: \(SystemMessage.text(-result))") }
            guard result > 0 else { return nil }
            guard let raw else { continue }
            let message = BusMessage(takingOwnershipOf: raw)
            if let event = event(message) { return event }
        }
    }

    /// Forgets what was asked for a call that is over.
    func forget(_ call: UInt64) {
        asked = asked.filter { $0.value.tag.call != call }
    }

    /// For poll(2).
    ///
    /// - Throws: `.unavailable` when the connection is gone.
    func interest() throws(SystemdError) -> (descriptor: CInt, events: Int16, timeout: UInt64) {
        let descriptor = watchbox_bus_descriptor(bus)
        let events = watchbox_bus_events(bus)
        var timeout = UInt64.max
        let result = watchbox_bus_timeout(bus, &timeout)
        for code in [descriptor, events, result] where code < 0 {
            throw .unavailable("the system bus: \(SystemMessage.text(-code))")
        }
        return (descriptor, Int16(truncatingIfNeeded: events), timeout)
    }

    // MARK: what comes in

    private func event(_ message: borrowing BusMessage) -> Event? {
        let cookie = message.replyCookie
        if cookie != 0, let (tag, request) = asked.removeValue(forKey: cookie) {
            if let failure = message.failure { return .reply(tag, .failure(failure)) }
            return .reply(tag, Self.reply(to: request, message) ?? Self.malformed)
        }
        guard message.isSignal(Self.manager, "JobRemoved"), message.readUInt32() != nil,
            let path = message.readString("o"), message.readString() != nil, let result = message.readString()
        else { return nil }
        return .jobRemoved(.init(path: path, sender: message.sender, result: result))
    }

    private static let malformed = UnitDialogue.Reply.failure(
        BusFailure(name: "org.freedesktop.DBus.Error.InvalidArgs", text: "the answer cannot be read", number: EBADMSG))

    private static func reply(to request: UnitDialogue.Request, _ message: borrowing BusMessage) -> UnitDialogue.Reply?
    {
        switch request {
        case .subscribe, .call(.resetFailed): .empty
        case .call(.job), .call(.state): message.readString("o").map { .path($0, sender: message.sender) }
        case .properties: message.readUnitState().map { .properties($0) }
        case .owner: message.readString().map { .owner($0) }
        case .call(.isClockSynchronised): message.readFlag().map { .flag($0) }
        case .call(.units): message.readUnitPaths(limit: UnitDialogue.listLimit).map { .list($0) }
        }
    }

    // MARK: what goes out

    private static let daemon = "org.freedesktop.DBus"
    private static let daemonPath = "/org/freedesktop/DBus"
    private static let systemd = "org.freedesktop.systemd1"
    private static let manager = "org.freedesktop.systemd1.Manager"
    private static let managerPath = "/org/freedesktop/systemd1"
    private static let timeService = "org.freedesktop.timedate1"
    private static let timeServicePath = "/org/freedesktop/timedate1"

    private enum Argument {
        case text(String)
        /// An array of strings, with one or none in it.
        case list(String?)
    }

    private func callManager(_ member: String, _ arguments: [Argument]) throws(SystemdError) -> UInt64 {
        try call(Self.systemd, Self.managerPath, Self.manager, member, arguments)
    }

    /// - Returns: the call's cookie, which its reply names.
    private func call(
        _ destination: String, _ path: String, _ interface: String, _ member: String, _ arguments: [Argument],
        startsService: Bool = false
    ) throws(SystemdError) -> UInt64 {
        var made: OpaquePointer?
        let result = watchbox_message_new_call(
            bus, destination, path, interface, member, startsService ? 1 : 0, &made)
        guard result >= 0, let message = made else { throw Self.failed(member, result) }
        defer { watchbox_message_unref(message) }
        for argument in arguments {
            let result =
                switch argument {
                case .text(let text): watchbox_message_append_string(message, text)
                case .list(let text?): watchbox_message_append_strings(message, text)
                case .list(nil): watchbox_message_append_strings(message, nil)
                }
            if result < 0 { throw Self.failed(member, result) }
        }
        var cookie: UInt64 = 0
        let sent = watchbox_bus_send(bus, message, &cookie)
        if sent < 0 { throw Self.failed(member, sent) }
        return cookie
    }

    private static func failed(_ member: String, _ result: CInt) -> SystemdError {
        .unavailable("the system bus, \(member): \(SystemMessage.text(-result))")
    }
}

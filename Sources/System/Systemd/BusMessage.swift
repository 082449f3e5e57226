internal import CSystemd
internal import Glibc

/// A message that came over the bus; used by the bus' thread alone. Reading moves forward through it.
struct BusMessage: ~Copyable {
    private let message: OpaquePointer

    init(takingOwnershipOf message: OpaquePointer) {
        self.message = message
    }

    deinit { watchbox_message_unref(message) }

    /// 0 when it answers nothing.
    var replyCookie: UInt64 { watchbox_message_reply_cookie(message) }

    /// The connection that sent it, as the bus itself wrote it; "" when there is none.
    var sender: String { watchbox_message_sender(message).map { String(cString: $0) } ?? "" }

    /// Set for error replies.
    var failure: BusFailure? {
        guard Int(watchbox_message_type(message)) == Int(SD_BUS_MESSAGE_METHOD_ERROR) else { return nil }
        return BusFailure(
            name: watchbox_message_error_name(message).map { String(cString: $0) } ?? "",
            text: watchbox_message_error_text(message).map { String(cString: $0) } ?? "",
            number: abs(watchbox_message_error_number(message)))
    }

    func isSignal(_ interface: String, _ member: String) -> Bool {
        watchbox_message_is_signal(message, interface, member) > 0
    }

    /// - Parameter type: `SD_BUS_TYPE_STRING` or `SD_BUS_TYPE_OBJECT_PATH`.
    func readString(_ type: Unicode.Scalar = "s") -> String? {
        var text: UnsafePointer<CChar>?
        guard watchbox_message_read(message, CChar(type.value), &text) > 0, let text else { return nil }
        return String(cString: text)
    }

    func readUInt32() -> UInt32? { readNumber("u") }

    /// - Parameter type: the `SD_BUS_TYPE_…` of `Number`.
    private func readNumber<Number: FixedWidthInteger>(_ type: Unicode.Scalar) -> Number? {
        var value: Number = 0
        return watchbox_message_read(message, CChar(type.value), &value) > 0 ? value : nil
    }

    /// A variant with a boolean, the reply to `Get`.
    func readFlag() -> Bool? {
        guard let contents = watchbox_message_next_contents(message), String(cString: contents) == "b" else {
            return nil
        }
        var flag: Int32?
        return read("b", { $0.readNumber("b") }) { flag = $0 } ? flag != 0 : nil
    }

    /// `a{sv}`, the reply to `GetAll`: those of a unit that `UnitState` has.
    func readUnitState() -> UnitState? {
        guard enter("a", "{sv}") else { return nil }
        var state = UnitState(name: "", load: "", active: "", sub: "")
        while enter("e", "sv") {
            guard let name = readString(), readProperty(name, into: &state), exit() else { return nil }
        }
        if !["active", "reloading", "deactivating", "refreshing"].contains(state.active) {
            state.activeSinceMonotonic = nil
        }
        return state.name.isEmpty ? nil : state
    }

    /// `a(ssssssouso)`, the reply to `ListUnitsByPatterns`: the units' object paths.
    func readUnitPaths(limit: Int) -> [String]? {
        guard enter("a", "(ssssssouso)") else { return nil }
        var paths: [String] = []
        while paths.count < limit, enter("r", "ssssssouso") {
            guard watchbox_message_skip(message, "ssssss") >= 0, let path = readString("o"),
                watchbox_message_skip(message, "uso") >= 0, exit()
            else { return nil }
            paths.append(path)
        }
        return paths
    }

    /// Reads or skips one variant; false when the message ends early. A known name with another type than expected is
    /// skipped: the state keeps its default.
    private func readProperty(_ name: String, into state: inout UnitState) -> Bool {
        guard let contents = watchbox_message_next_contents(message) else { return false }
        let type = String(cString: contents)
        switch (name, type) {
        case ("Id", "s"): return read(type, { $0.readString() }) { state.name = $0 }
        case ("LoadState", "s"): return read(type, { $0.readString() }) { state.load = $0 }
        case ("ActiveState", "s"): return read(type, { $0.readString() }) { state.active = $0 }
        case ("SubState", "s"): return read(type, { $0.readString() }) { state.sub = $0 }
        case ("Result", "s"): return read(type, { $0.readString() }) { state.result = $0 }
        case ("StatusText", "s"): return read(type, { $0.readString() }) { state.statusText = $0.oneLine(limit: 512) }
        case ("MainPID", "u"): return read(type, { $0.readUInt32() }) { state.mainPID = Int32(clamping: $0) }
        case ("NRestarts", "u"): return read(type, { $0.readUInt32() }) { state.restarts = $0 }
        case ("UID", "u"): return read(type, { $0.readUInt32() }) { state.userIdentifier = $0 == .max ? nil : $0 }
        case ("ExecMainStatus", "i"): return read(type, { $0.readNumber("i") }) { state.execMainStatus = $0 }
        case ("ActiveEnterTimestampMonotonic", "t"):
            return read(type, { $0.readNumber("t") }) { state.activeSinceMonotonic = $0 == 0 ? nil : $0 }
        case ("InvocationID", "ay"):
            return read(type, { $0.readBytes() }) { state.invocationID = Self.hexadecimal($0) }
        default: return watchbox_message_skip(message, "v") >= 0
        }
    }

    /// The contents of one variant; false when the message ends early.
    private func read<T>(_ type: String, _ body: (borrowing BusMessage) -> T?, _ take: (T) -> Void) -> Bool {
        guard enter("v", type), let value = body(self), exit() else { return false }
        take(value)
        return true
    }

    private func readBytes() -> [UInt8]? {
        var bytes: UnsafeRawPointer?
        var count = 0
        guard watchbox_message_read_bytes(message, &bytes, &count) >= 0 else { return nil }
        return Array(UnsafeRawBufferPointer(start: bytes, count: count))
    }

    /// 32 digits; "" for anything but 16 bytes, and for the ID that is all zero.
    private static func hexadecimal(_ bytes: [UInt8]) -> String {
        guard bytes.count == 16, bytes.contains(where: { $0 != 0 }) else { return "" }
        return bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    private func enter(_ type: Unicode.Scalar, _ contents: String) -> Bool {
        watchbox_message_enter(message, CChar(type.value), contents) > 0
    }

    private func exit() -> Bool { watchbox_message_exit(message) >= 0 }
}

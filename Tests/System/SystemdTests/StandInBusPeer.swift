import Glibc
import Synchronization

/// Runs `body` on a thread of its own.
func startThread(_ body: @escaping @Sendable () -> Void) {
    final class Box {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }
    var thread = pthread_t()
    let result = pthread_create(
        &thread, nil,
        { argument in
            Unmanaged<Box>.fromOpaque(argument!).takeRetainedValue().body()
            return nil
        }, Unmanaged.passRetained(Box(body)).toOpaque())
    precondition(result == 0)
    pthread_detach(thread)
}

/// The bus' end of one connection.
final class Peer: Sendable {
    private let descriptor: CInt
    private let output = Mutex<(serial: UInt32, isOpen: Bool)>((0, true))

    init(descriptor: CInt) { self.descriptor = descriptor }

    func reply(
        _ call: StandInBus.Call, _ signature: String = "", _ body: BusBytes = BusBytes(),
        sender: String = StandInBus.systemd
    ) {
        send(2, [(5, .number(call.serial)), (7, .text("s", sender))], signature, body)
    }

    func fail(_ call: StandInBus.Call, _ name: String, _ text: String = "because") {
        var body = BusBytes()
        body.string(text)
        let fields: [(UInt8, Field)] = [
            (4, .text("s", name)), (5, .number(call.serial)), (7, .text("s", StandInBus.systemd)),
        ]
        send(3, fields, "s", body)
    }

    func replyPath(_ call: StandInBus.Call, _ path: String, sender: String = StandInBus.systemd) {
        var body = BusBytes()
        body.string(path)
        reply(call, "o", body, sender: sender)
    }

    func jobRemoved(_ path: String, _ unit: String, _ result: String, sender: String = StandInBus.systemd) {
        var body = BusBytes()
        body.uint32(7)
        for text in [path, unit, result] { body.string(text) }
        let fields: [(UInt8, Field)] = [
            (1, .text("o", "/org/freedesktop/systemd1")), (2, .text("s", "org.freedesktop.systemd1.Manager")),
            (3, .text("s", "JobRemoved")), (7, .text("s", sender)),
        ]
        send(4, fields, "uoss", body)
    }

    /// Bytes as they are.
    func sendRaw(_ bytes: [UInt8]) {
        output.withLock { _ in _ = Glibc.send(descriptor, bytes, bytes.count, CInt(MSG_NOSIGNAL)) }
    }

    func hangUp() { shutdown(descriptor, CInt(SHUT_RDWR)) }

    func close() { Glibc.close(descriptor) }

    // MARK: the wire

    private enum Field {
        case text(String, String)
        case number(UInt32)
    }

    private func send(_ type: UInt8, _ fields: [(UInt8, Field)], _ signature: String, _ body: BusBytes) {
        output.withLock { output in
            output.serial += 1
            var message = BusBytes(bytes: [UInt8(ascii: "l"), type, 1, 1])
            message.uint32(UInt32(body.bytes.count))
            message.uint32(output.serial)
            message.array(alignment: 8) { message in
                for (code, field) in fields {
                    message.align(8)
                    message.bytes.append(code)
                    switch field {
                    case .text(let type, let value):
                        message.signature(type)
                        message.string(value)
                    case .number(let value):
                        message.signature("u")
                        message.uint32(value)
                    }
                }
                if !signature.isEmpty {
                    message.align(8)
                    message.bytes.append(8)
                    message.signature("g")
                    message.signature(signature)
                }
            }
            message.align(8)
            let bytes = message.bytes + body.bytes
            _ = Glibc.send(descriptor, bytes, bytes.count, CInt(MSG_NOSIGNAL))
        }
    }

    /// SASL EXTERNAL, line by line.
    func authenticate() -> Bool {
        guard read(1) == [0] else { return false }
        while true {
            var line: [UInt8] = []
            while !line.ends(with: [13, 10]) {
                guard let byte = read(1) else { return false }
                line += byte
            }
            let text = String(decoding: line.dropLast(2), as: UTF8.self)
            let ok = "OK 0123456789abcdef0123456789abcdef\r\n"
            switch text.split(separator: " ").first {
            case "AUTH": sendRaw(Array((text == "AUTH EXTERNAL" ? "DATA\r\n" : ok).utf8))
            case "DATA": sendRaw(Array(ok.utf8))
            case "NEGOTIATE_UNIX_FD": sendRaw(Array("AGREE_UNIX_FD\r\n".utf8))
            case "BEGIN": return true
            default: return false
            }
        }
    }

    func nextCall() -> StandInBus.Call? {
        guard let head = read(16) else { return nil }
        let bodyCount = Int(number(head, 4))
        let fieldsCount = Int(number(head, 12))
        guard let fields = read((fieldsCount + 7) / 8 * 8), let body = read(bodyCount) else { return nil }
        var call = StandInBus.Call(
            serial: number(head, 8), flags: head[2], destination: "", path: "", interface: "", member: "", arguments: []
        )
        var signature = ""
        var at = 0
        while at < fieldsCount {
            at = (at + 7) / 8 * 8
            let (code, type) = (fields[at], fields[at + 2])
            at += 4
            if type == UInt8(ascii: "g") {
                signature = String(decoding: fields[(at + 1)..<(at + 1 + Int(fields[at]))], as: UTF8.self)
                at += 2 + Int(fields[at])
                continue
            }
            guard type != UInt8(ascii: "u") else {
                at += 4
                continue
            }
            let count = Int(number(fields, at))
            let text = String(decoding: fields[(at + 4)..<(at + 4 + count)], as: UTF8.self)
            at += 5 + count
            switch code {
            case 1: call.path = text
            case 2: call.interface = text
            case 3: call.member = text
            case 6: call.destination = text
            default: break
            }
        }
        var position = 0
        for _ in signature.prefix(while: { $0 == "s" }) {
            position = (position + 3) / 4 * 4
            let count = Int(number(body, position))
            call.arguments.append(String(decoding: body[(position + 4)..<(position + 4 + count)], as: UTF8.self))
            position += 5 + count
        }
        return call
    }

    private func number(_ bytes: [UInt8], _ at: Int) -> UInt32 {
        bytes.withUnsafeBytes { UInt32(littleEndian: $0.loadUnaligned(fromByteOffset: at, as: UInt32.self)) }
    }

    /// Exactly so many bytes; nil at the end.
    private func read(_ count: Int) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: count)
        var got = 0
        while got < count {
            let part = bytes.withUnsafeMutableBytes { recv(descriptor, $0.baseAddress! + got, count - got, 0) }
            guard part > 0 else { return nil }
            got += part
        }
        return bytes
    }
}

extension Array where Element == UInt8 {
    fileprivate func ends(with end: [UInt8]) -> Bool { suffix(end.count).elementsEqual(end) }
}

internal import CameraModel
public import ControlAPI

/// Cameras, streams, relays and keys as tables and cards.
public enum CameraView {
    public static func table(_ document: CameraListDocument) -> Table {
        var table = Table([
            .init("ID", isIdentifier: true), .init("NAME"), .init("SOURCE"), .init("MAKER/MODEL"), .init("RELAY"),
            .init("DEFINED IN"), StatusView.stateColumn(document.cameras.map(\.stream)),
        ])
        for camera in document.cameras {
            let maker = [camera.manufacturer, camera.model].compactMap { $0 }.joined(separator: " ")
            table.rows.append([
                .init(camera.id), .init(camera.name), .init(camera.source), .init(maker.isEmpty ? "-" : maker),
                .init(camera.stream.relay ?? "-"), .init(camera.origin, .faint), StatusView.state(of: camera.stream),
            ])
        }
        table.footer = Quantity.count(document.cameras.count, "camera")
        return table
    }

    public static func lines(_ camera: CameraDocument, style: Style) -> [String] {
        var facts: [(String, String)] = [
            ("Name", camera.name), ("Source", camera.source), ("Active", camera.isActive ? "yes" : "no"),
            ("Defined in", camera.origin),
        ]
        if let user = camera.user {
            facts.append(("User", "\(user), password \(camera.hasPassword ? "stored" : "MISSING")"))
        }
        if let maker = camera.manufacturer { facts.append(("Maker", "\(maker) \(camera.model ?? "")")) }
        if let firmware = camera.firmware { facts.append(("Firmware", firmware)) }
        if let serial = camera.serial { facts.append(("Serial number", serial)) }
        if let mac = camera.mac { facts.append(("MAC", mac)) }
        if let endpoint = camera.endpoint { facts.append(("Endpoint", endpoint)) }
        if let address = camera.address {
            facts.append(("Address", camera.port.map { NetworkWords.endpoint(address, $0) } ?? address))
        }
        if let added = camera.added { facts.append(("Added", Quantity.date(added))) }
        if let connected = camera.lastConnected { facts.append(("Last connected", Quantity.date(connected))) }
        for key in camera.settings.keys.sorted() {
            facts.append((key, camera.settings[key].map { JSONDocument.text($0) } ?? ""))
        }
        for profile in camera.profiles {
            let size = profile.width.flatMap { width in profile.height.map { "\(width)x\($0) " } } ?? ""
            let rate = profile.rate.map { " \(Quantity.tenths($0)) fps" } ?? ""
            facts.append(
                ("Profile \(profile.name)", size + (profile.codec ?? "") + rate + (profile.isDefault ? ", used" : "")))
        }
        if let capture = camera.stream.statistics?.capture { facts += CaptureWords.facts(capture) }
        return Card.lines(camera.id, StatusView.state(of: camera.stream), facts, style)
    }
}

public enum StreamView {
    public static func table(_ document: StreamListDocument) -> Table {
        var table = Table([
            .init("STREAM", isIdentifier: true), .init("IN", .right), .init("SENT", .right), .init("DROP", .right),
            .init("QUEUE", .right), .init("RTT", .right), .init("ACK", .right), .init("RECONN", .right),
            .init("RESTARTS", .right), StatusView.stateColumn(document.streams),
        ])
        for stream in document.streams {
            let statistics = stream.statistics
            table.rows.append([
                .init(stream.camera), .init(stream.framesPerSecond.map { "\(Quantity.tenths($0)) fps" } ?? "-"),
                .init(stream.bitsPerSecond.map(Quantity.bitRate) ?? "-"),
                .init(statistics.map { "\($0.video.dropped)" } ?? "-"),
                .init(statistics.map { "\($0.queue.milliseconds) ms" } ?? "-"),
                .init(stream.roundTripMilliseconds.map { "\(Quantity.tenths($0)) ms" } ?? "-"),
                .init(stream.acknowledgedSecondsAgo.map { Quantity.time(seconds: $0) } ?? "-"),
                .init(statistics.map { "\($0.reconnects)" } ?? "-"),
                .init("\(stream.restarts)", stream.restarts > 0 ? .doubtful : .plain), StatusView.state(of: stream),
            ])
        }
        table.footer = Quantity.count(document.streams.count, "stream")
        return table
    }

    public static func lines(_ stream: StreamDocument, style: Style) -> [String] {
        var facts: [(String, String)] = [
            ("Stream", stream.stream), ("Relay", stream.relay ?? "-"),
            ("Unit", "\(stream.unit), \(Quantity.count(stream.restarts, "restart"))"),
        ]
        if let statistics = stream.statistics {
            let video = statistics.video
            facts += [
                ("Pictures", "\(video.delivered) captured, \(video.sealed) sealed and sent, \(video.dropped) dropped"),
                ("Sound", "\(statistics.audio.sealed) sealed and sent, \(statistics.audio.dropped) dropped"),
                ("Queue", "\(statistics.queue.milliseconds) ms, \(statistics.queue.bytes) bytes"),
                (
                    "Collection",
                    "\(statistics.collection ?? "-"), \(statistics.itemsInCollection) items, \(statistics.rotations) rotations"
                ),
                ("Connections", "\(statistics.connections), \(statistics.reconnects) attempts after the first"),
            ]
        }
        return Card.lines(stream.camera, StatusView.state(of: stream), facts, style)
    }
}

public enum RelayView {
    public static func table(_ document: RelayListDocument) -> Table {
        var table = Table([
            .init("NAME", isIdentifier: true), .init("URL"), .init("SECRET"), .init("PROFILE"), .init("CAMERAS"),
            .init("DEFINED IN"),
        ])
        for relay in document.relays {
            table.rows.append([
                .init(relay.name), .init(relay.url ?? "(a secret)"), .init(relay.hasSecret ? "stored" : "-"),
                .init(relay.profile), .init(relay.cameras.isEmpty ? "-" : relay.cameras.joined(separator: ", ")),
                .init(relay.origin, .faint),
            ])
        }
        table.footer = Quantity.count(document.relays.count, "relay")
        return table
    }
}

public enum KeyView {
    public static func table(_ document: KeyListDocument) -> Table {
        var table = Table([
            .init("CAMERA", isIdentifier: true), .init("STREAM"), .init("COLLECTION", isIdentifier: true),
            .init("IV USED", .right), .init("PART", .right), .init("ROTATIONS", .right), .init("AT THE KAS"),
        ])
        for key in document.keys {
            let part = Double(key.ivUsed) / Double(max(1, key.ivLimit)) * 100
            let waits = key.headersUnregistered
            table.rows.append([
                .init(key.camera), .init(key.stream), .init(key.collection ?? "-"), .init("\(key.ivUsed)"),
                .init("\(Quantity.tenths(part)) %", part >= 80 ? .bad : .plain), .init("\(key.rotations)"),
                waits == 0
                    ? .init("\(key.headersRegistered) confirmed") : .init("\(waits) not confirmed yet", .doubtful),
            ])
        }
        table.footer = Quantity.count(document.keys.count, "key")
        return table
    }
}

/// A name with its state, and facts below each other.
enum Card {
    static func lines(_ title: String, _ state: Table.Cell, _ facts: [(String, String)], _ style: Style) -> [String] {
        let width = facts.map { DisplayWidth.of($0.0) }.max() ?? 0
        return ["\(style.paint(title, .strong))  \(style.paint(state.text, state.tone))"]
            + facts.map { name, value in
                let padding = String(repeating: " ", count: width - DisplayWidth.of(name))
                return "  \(style.paint(name, .faint))\(padding)  \(style.paint(value, .plain))"
            }
    }
}

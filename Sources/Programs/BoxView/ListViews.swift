internal import CameraModel
internal import Console
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

    /// One camera.
    ///
    /// - Parameter place: where it publishes to; nil: not known.
    public static func lines(
        _ camera: CameraDocument, at place: CameraContext? = nil, style: Style
    ) -> [String] {
        CameraCard.lines(camera, at: place, style: style)
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
                .init("\(stream.restarts)", stream.restarts > 0 ? .warning : .plain), StatusView.state(of: stream),
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
                ("Frames", frames(video)),
                ("Audio", "\(statistics.audio.sealed) sealed and sent, \(statistics.audio.dropped) dropped"),
                ("Queue", "\(statistics.queue.milliseconds) ms, \(statistics.queue.bytes) bytes"),
                (
                    "Collection",
                    "\(statistics.collection ?? "-"), \(statistics.itemsInCollection) items, \(statistics.rotations) rotations"
                ),
                ("Connections", "\(statistics.connections), \(statistics.reconnects) attempts after the first"),
            ]
            if let uplink = statistics.uplink {
                facts += UplinkText.facts(uplink, changed: stream.uplinkChangedSecondsAgo, style: style)
            }
        }
        if let next = stream.hint { facts.append(("Next", NextStep.text(next))) }
        return Card.lines(stream.camera, StatusView.state(of: stream), facts, style)
    }

    static func frames(_ video: CameraStatistics.Track) -> String {
        let text = "\(video.delivered) captured, \(video.sealed) sealed and sent, \(video.dropped) dropped"
        guard let late = video.late, late > 0 else { return text }
        return text + ": \(late) because this machine does not keep up with the rate"
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

public enum HookView {
    public static func table(_ document: HookListDocument) -> Table {
        var table = Table([
            .init("NAME", isIdentifier: true), .init("KIND"), .init("URL"), .init("EVENTS"), .init("STATE"),
            .init("DELIVERED", .right), .init("MISSED", .right), .init("DEFINED IN"),
        ])
        for hook in document.hooks {
            table.rows.append([
                .init(hook.name), .init(hook.kind), .init(place(hook)), .init(subjects(hook)), state(hook),
                .init(hook.state.map { "\($0.delivered)" } ?? "-"), .init(hook.state.map { "\($0.missed)" } ?? "-"),
                .init(hook.origin, .faint),
            ])
        }
        table.footer = Quantity.count(document.hooks.count, "hook")
        return table
    }

    public static func card(_ hook: HookDocument, _ style: Style) -> [String] {
        var facts = [
            ("Kind", hook.kind), ("URL", place(hook)), ("Token", hook.hasToken ? "stored" : "none"),
            ("Events", subjects(hook)),
        ]
        if let file = hook.certificateAuthorityFile { facts.append(("Trusts", file)) }
        if let pin = hook.publicKeyPin { facts.append(("Pin", pin)) }
        if let state = hook.state {
            facts.append(("Since its start", "\(state.delivered) delivered, \(state.missed) not sent one by one"))
            if state.queued > 0 { facts.append(("Waiting", Quantity.count(state.queued, "event"))) }
            if let reason = state.reason {
                facts.append(("Last failure", reason + (state.code.map { " (\($0))" } ?? "")))
                facts.append(("Next", "watchboxctl hook test \(hook.name)"))
            }
        }
        facts.append(("Defined in", hook.origin))
        return Card.lines(hook.name, state(hook), facts, style)
    }

    private static func place(_ hook: HookDocument) -> String {
        hook.url ?? (hook.hasSecret ? "(a secret)" : "(a secret that is MISSING)")
    }

    private static func subjects(_ hook: HookDocument) -> String {
        let events = hook.events.isEmpty ? "nothing" : hook.events.joined(separator: ", ")
        return hook.cameras.isEmpty ? events : "\(events); of \(hook.cameras.joined(separator: ", "))"
    }

    private static func state(_ hook: HookDocument) -> Table.Cell {
        guard hook.isEnabled else { return .init("off", .faint) }
        guard let state = hook.state else { return .init("does not answer", .bad) }
        if state.isFailing { return .init("not delivered to", .bad) }
        // One message was refused, and the next may be.
        if state.reason != nil { return .init("refuses", .warning) }
        return .init(state.queued > 0 ? "sends" : "ready", .good)
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
                    ? .init("\(key.headersRegistered) confirmed") : .init("\(waits) not confirmed yet", .warning),
            ])
        }
        table.footer = Quantity.count(document.keys.count, "key")
        return table
    }
}

/// A name with its state, and facts below each other.
enum Card {
    /// - Parameter nameWidth: of a card with more facts below; nil: these are all.
    static func lines(
        _ title: String, _ state: Table.Cell, _ facts: [(String, String)], _ style: Style, nameWidth: Int? = nil
    ) -> [String] {
        let width = nameWidth ?? facts.map { DisplayWidth.of($0.0) }.max() ?? 0
        return ["\(style.paint(title, .strong))  \(style.paint(state.text, state.tone))"]
            + self.facts(facts, style, nameWidth: width)
    }

    static func facts(_ facts: [(String, String)], _ style: Style, nameWidth: Int) -> [String] {
        facts.map { name, value in
            let padding = String(repeating: " ", count: max(0, nameWidth - DisplayWidth.of(name)))
            return "  \(style.paint(name, .faint))\(padding)  \(style.paint(value, .plain))"
        }
    }
}

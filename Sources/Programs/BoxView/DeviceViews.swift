public import ControlAPI

/// Video and audio devices of this machine: which is a camera, what it delivers, and what the others are.
public enum DiscoveryView {
    public static func table(_ document: DiscoveryDocument) -> Table {
        var table = Table([
            .init("DEVICE", isIdentifier: true), .init("KIND"), .init("BUS"), .init("NAME"),
            .init("STABLE NAME", isIdentifier: true),
        ])
        for node in document.nodes {
            let kind: Table.Cell =
                switch node.kind {
                case .camera: .init("● camera", .good)
                case .processor: .init("○ codec or ISP", .faint)
                case .metadata: .init("○ metadata", .faint)
                case .unusable: .init("✗ no camera", .faint)
                case .unknown: .init("? unknown", .warning)
                }
            table.rows.append([
                .init(node.device), kind, .init(node.bus), .init(node.name), .init(stableName(node) ?? "-"),
            ])
        }
        let cameras = document.nodes.count { $0.kind == .camera }
        table.footer = "\(Quantity.count(document.nodes.count, "video device")), \(Quantity.count(cameras, "camera"))"
        return table
    }

    public static func lines(_ document: DiscoveryDocument, style: Style, header: Bool = true) -> [String] {
        // With the network, one list of all cameras comes first.
        var lines =
            document.network == nil ? [] : NetworkSearchView.lines(document, style: style, header: header) + [""]
        lines +=
            document.nodes.isEmpty
            ? ["No video device is at this machine."] : table(document).lines(style, header: header)
        for node in document.nodes where node.kind == .camera { lines += [""] + camera(node, style, header: header) }
        let others = document.nodes.filter { $0.kind != .camera && $0.reason != nil }
        if !others.isEmpty { lines.append("") }
        lines += others.map { node in
            "\(style.paint(node.device, .strong))  \(style.paint(node.reason ?? "", .plain))"
        }
        if !document.audioDevices.isEmpty {
            var table = Table([.init("AUDIO", isIdentifier: true), .init("NAME")])
            table.rows = document.audioDevices.map { [.init($0.name), .init($0.description)] }
            lines += [""] + table.lines(style, header: header)
        }
        if !document.limits.isEmpty { lines.append("") }
        return lines + document.limits.map { style.paint($0, .plain) }
    }

    private static func stableName(_ node: VideoNodeDocument) -> String? { node.stableID ?? node.stablePath }

    private static func camera(_ node: VideoNodeDocument, _ style: Style, header: Bool) -> [String] {
        var lines = ["\(style.paint(node.device, .strong))  \(style.paint(node.name, .plain))"]
        if let reason = node.reason { lines.append("  \(style.paint(reason, .warning))") }
        var names: [String] = []
        for format in node.formats where !names.contains(format.pixelFormat) { names.append(format.pixelFormat) }
        let width = names.map { DisplayWidth.of($0) }.max() ?? 0
        for name in names {
            let formats = node.formats.filter { $0.pixelFormat == name }
            let sizes = formats.map { format in
                let rates = format.rates.map(number).joined(separator: "/")
                return rates.isEmpty ? format.size : "\(format.size)@\(rates)"
            }
            let padding = String(repeating: " ", count: width - DisplayWidth.of(name))
            let tail = formats.contains { $0.isUsable } ? "" : "  (not usable)"
            lines.append(
                "  \(style.paint(name, .faint))\(padding)  \(style.paint(sizes.joined(separator: " "), .plain))\(tail)")
        }
        if let controls = node.controls {
            lines += ControlsView.table(controls).lines(style, header: header).map { "  " + $0 }
        }
        lines.append(
            "  Add it: \(style.paint(NetworkSearchView.addition(of: node.source), .strong))"
        )
        return lines
    }

    /// `30`, `7.5`.
    private static func number(_ rate: Double) -> String {
        let text = Quantity.tenths(rate)
        return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
    }
}

/// A camera's own controls as a table.
public enum ControlsView {
    public static func table(_ controls: [VideoControlDocument]) -> Table {
        var table = Table([
            .init("CONTROL", isIdentifier: true), .init("VALUE", .right), .init("STANDARD", .right),
            .init("RANGE"), .init("REMARK"),
        ])
        for control in controls {
            let name = control.value.flatMap { control.menu["\($0)"] }.map { " \($0)" } ?? ""
            var remarks: [String] = []
            if control.isReadOnly { remarks.append("read only") }
            if control.isInactive { remarks.append("without effect now") }
            table.rows.append([
                .init(control.name), .init((control.value.map { "\($0)" } ?? "-") + name),
                .init("\(control.defaultValue)"), .init(range(control)), .init(remarks.joined(separator: ", "), .faint),
            ])
        }
        table.footer = Quantity.count(controls.count, "control")
        return table
    }

    private static func range(_ control: VideoControlDocument) -> String {
        guard control.menu.isEmpty else {
            return control.menu.sorted { (Int($0.key) ?? 0) < (Int($1.key) ?? 0) }.map { "\($0.key) \($0.value)" }
                .joined(separator: ", ")
        }
        switch control.kind {
        case "boolean": return "0 or 1"
        case "button": return "press: 1"
        default: return "\(control.minimum) to \(control.maximum)" + (control.step > 1 ? ", step \(control.step)" : "")
        }
    }
}

/// What encodes, what could, and why not.
public enum EncodersView {
    public static func lines(_ document: CameraEncodersDocument, style: Style, header: Bool = true) -> [String] {
        var lines: [String] = []
        if let cameras = document.cameras {
            lines += cameras.isEmpty ? ["No camera with an encoder runs."] : uses(cameras).lines(style, header: header)
            for use in cameras {
                if let reason = use.reason { lines.append(remark(use.camera, reason, .plain, style)) }
                if let limit = use.limit { lines.append(remark(use.camera, limit, .warning, style)) }
                if use.hangs > 0 {
                    lines.append(
                        remark(
                            use.camera, "the hardware encoder hung \(Quantity.count(Int(clamping: use.hangs), "time"))",
                            .warning, style))
                }
            }
        } else {
            lines.append("What the cameras code with is not known: the daemon does not answer.")
        }
        lines.append("")
        lines +=
            document.nodes.isEmpty
            ? ["No encoder device is at this machine."] : nodes(document.nodes).lines(style, header: header)
        lines.append("")
        return lines + libraries(document.libraries).lines(style, header: header)
    }

    private static func remark(_ camera: String, _ text: String, _ tone: Style.Tone, _ style: Style) -> String {
        "  \(style.paint(camera, .strong))  \(style.paint(text, tone))"
    }

    private static func uses(_ uses: [CameraEncodersDocument.Use]) -> Table {
        var table = Table([
            .init("CAMERA", isIdentifier: true), .init("ENCODER", isIdentifier: true), .init(""), .init("SIZE", .right),
            .init("RATE", .right),
        ])
        for use in uses {
            let size = use.width.flatMap { width in use.height.map { "\(width)x\($0)" } }
            table.rows.append([
                .init(use.camera), .init(use.encoder ?? "-"),
                .init(use.isHardware.map { $0 ? "hardware" : "software" } ?? "", .faint), .init(size ?? "-"),
                .init(use.rate.map { "\(Quantity.tenths($0)) fps" } ?? "-", use.limit == nil ? .plain : .warning),
            ])
        }
        return table
    }

    private static func nodes(_ nodes: [CameraEncodersDocument.Node]) -> Table {
        var table = Table([
            .init("DEVICE", isIdentifier: true), .init("NAME"), .init("DRIVER"), .init("CODECS"),
        ])
        table.rows = nodes.map { node in
            [.init(node.device), .init(node.card), .init(node.driver), .init(node.codecs.joined(separator: ", "))]
        }
        return table
    }

    private static func libraries(_ libraries: [CameraEncodersDocument.Library]) -> Table {
        var table = Table([.init("LIBAVCODEC", isIdentifier: true), .init(""), .init("STATE")])
        for library in libraries {
            let state: Table.Cell =
                switch (library.isAvailable, library.works) {
                case (false, _): .init("○ " + (library.reason ?? "not in this libavcodec"), .faint)
                case (true, true?):
                    .init("● encodes" + (library.rate.map { " \(Quantity.tenths($0)) frames/s" } ?? ""), .good)
                case (true, false?): .init("✗ does not code" + (library.reason.map { ": \($0)" } ?? ""), .bad)
                case (true, nil): .init(library.isHardware ? "○ not tried; try it: --probe" : "● opens", .plain)
                }
            table.rows.append([.init(library.name), .init(library.isHardware ? "hardware" : "software", .faint), state])
        }
        return table
    }
}

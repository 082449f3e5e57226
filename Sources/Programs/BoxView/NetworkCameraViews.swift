public import CameraModel
internal import Console
public import ControlAPI

/// The test of a network camera, step by step.
public enum StreamTestView {
    /// One step, with what to do about a failure.
    public static func lines(_ line: StreamTestReport.Line, style: Style) -> [String] {
        let (mark, tone): (String, Style.Tone) =
            switch line.outcome {
            case .ok: ("✓", .good)
            case .warning: ("!", .warning)
            case .failed: ("✗", .bad)
            case .skipped: ("○", .faint)
            }
        let name = text(line.step)
        let padding = String(repeating: " ", count: nameWidth - DisplayWidth.of(name))
        let time =
            line.outcome == .skipped ? "" : "  \(style.paint("\(Quantity.tenths(line.milliseconds)) ms", .faint))"
        let code = line.code.map { "\($0) " } ?? ""
        var lines = [
            "  \(style.paint(mark, tone)) \(style.paint(name, .strong))\(padding)  "
                + style.paint(code + line.text, line.outcome == .skipped ? .faint : .plain) + time
        ]
        if let next = line.hint { lines.append("      Next: \(style.paint(NextStep.text(next), .strong))") }
        return lines
    }

    /// What it comes to.
    public static func summary(_ report: StreamTestReport, style: Style) -> [String] {
        guard report.isUsable else {
            let step = report.lines.last { $0.outcome == .failed }.map { ": \(text($0.step))" } ?? ""
            return [style.paint("Not usable\(step)", .bad)]
        }
        var stream = NetworkText.frame(
            codec: report.videoCodec, width: report.width, height: report.height, rate: report.rate)
        if let audio = report.audioCodec { stream += " with \(NetworkText.codec(audio))" }
        return [
            style.paint("Usable", .good) + "  "
                + style.paint([stream, report.streamURL ?? report.url].joined(separator: "  "), .plain)
        ]
    }

    public static func lines(_ report: StreamTestReport, style: Style) -> [String] {
        report.lines.flatMap { lines($0, style: style) } + summary(report, style: style)
    }

    /// What is being waited for after these steps; nil at the end.
    public static func waiting(_ report: StreamTestReport) -> String? {
        guard !report.isDone else { return nil }
        let done = Set(report.lines.map(\.step))
        return StreamTestReport.Step.allCases.first { !done.contains($0) }.map(text)
    }

    private static let nameWidth = StreamTestReport.Step.allCases.map { DisplayWidth.of(text($0)) }.max() ?? 0

    private static func text(_ step: StreamTestReport.Step) -> String {
        switch step {
        case .reach: "reachable"
        case .clock: "clock"
        case .login: "login"
        case .describe: "stream"
        case .keyFrame: "first key frame"
        }
    }
}

/// What a device on the network is and offers.
public enum ProbeView {
    public static func lines(_ report: StreamTestReport, style: Style, header: Bool = true) -> [String] {
        guard let device = report.device else { return StreamTestView.lines(report, style: style) }
        var facts: [(String, String)] = []
        func add(_ name: String, _ value: String?) { if let value, !value.isEmpty { facts.append((name, value)) } }
        add("Maker", device.manufacturer)
        add("Model", device.model)
        add("Firmware", device.firmware)
        add("Serial number", device.serial)
        add("MAC", device.mac)
        add("Endpoint", device.endpoint)
        add(
            "Address",
            report.address.map { address in report.port.map { NetworkText.endpoint(address, $0) } ?? address })
        add("Login", report.authentication)
        add("Certificate", report.pin)
        let abilities = [device.hasPTZ ? "motors (PTZ)" : nil, device.hasEvents ? "events" : nil].compactMap(\.self)
        add("Has", abilities.joined(separator: ", "))
        var lines = Card.lines(
            report.url, report.isUsable ? .init("● usable", .good) : .init("✗ not usable", .bad), facts, style)
        if !device.profiles.isEmpty {
            lines += [""] + CameraProfilesView.table(device.profiles, used: nil).lines(style, header: header)
        }
        let troubles = report.lines.filter { $0.outcome == .failed || $0.outcome == .warning }
        if !troubles.isEmpty { lines.append("") }
        return lines + troubles.flatMap { StreamTestView.lines($0, style: style) }
    }
}

/// Streams that a camera offers.
public enum CameraProfilesView {
    public static func table(_ profiles: [NetworkStatistics.Profile], used: String?) -> Table {
        var table = Table([
            .init("PROFILE", isIdentifier: true), .init("NAME"), .init("VIDEO"), .init("GOP", .right),
            .init("PTZ"), .init("STREAM"), .init(""),
        ])
        for profile in profiles {
            table.rows.append([
                .init(profile.token), .init(profile.name),
                .init(
                    NetworkText.frame(
                        codec: profile.codec, width: profile.width, height: profile.height, rate: profile.rate,
                        bitrate: profile.bitrate)),
                .init(profile.gop.map { "\($0)" } ?? "-"), .init(profile.hasPTZ ? "yes" : "-"),
                .init(profile.url ?? "-", .faint), profile.token == used ? .init("● used", .good) : .init(""),
            ])
        }
        table.footer = Quantity.count(profiles.count, "profile")
        return table
    }

    public static func lines(
        _ document: CameraProfileListDocument, encoders: CameraEncoderListDocument?, style: Style, header: Bool = true
    ) -> [String] {
        var lines =
            document.profiles.isEmpty
            ? ["\(style.paint(document.camera, .strong)) has reported no profiles."]
            : table(document.profiles, used: document.used).lines(style, header: header)
        guard let encoders, !encoders.encoders.isEmpty else { return lines }
        lines += [""] + self.table(encoders).lines(style, header: header)
        for encoder in encoders.encoders {
            let options = options(encoder)
            if !options.isEmpty {
                lines.append("  \(style.paint(encoder.token, .strong))  \(style.paint(options, .plain))")
            }
        }
        return lines
    }

    private static func table(_ document: CameraEncoderListDocument) -> Table {
        var table = Table([
            .init("ENCODER", isIdentifier: true), .init("NAME"), .init("VIDEO"), .init("GOP", .right),
            .init("PROFILES"),
        ])
        for encoder in document.encoders {
            table.rows.append([
                .init(encoder.token), .init(encoder.name),
                .init(
                    NetworkText.frame(
                        codec: encoder.codec, width: encoder.size.width, height: encoder.size.height,
                        rate: encoder.rate, bitrate: encoder.bitrate)),
                .init(encoder.gop.map { "\($0)" } ?? "-"), .init(encoder.profiles.joined(separator: ", "), .faint),
            ])
        }
        table.footer = Quantity.count(document.encoders.count, "encoder")
        return table
    }

    /// What it may be set to.
    private static func options(_ encoder: CameraEncoder) -> String {
        var options: [String] = []
        if !encoder.codecs.isEmpty { options.append(encoder.codecs.map(NetworkText.codec).joined(separator: ", ")) }
        if !encoder.sizes.isEmpty {
            options.append(encoder.sizes.map { "\($0.width)x\($0.height)" }.joined(separator: " "))
        }
        if let rates = encoder.rates {
            options.append("\(NetworkText.number(rates.lowerBound)) to \(NetworkText.number(rates.upperBound)) fps")
        }
        if let bitrates = encoder.bitrates {
            let (low, high) = (Double(bitrates.lowerBound), Double(bitrates.upperBound))
            options.append("\(Quantity.bitRate(low)) to \(Quantity.bitRate(high))")
        }
        if let gops = encoder.gops { options.append("GOP \(gops.lowerBound) to \(gops.upperBound)") }
        return options.joined(separator: "; ")
    }
}

public enum PTZPresetView {
    public static func table(_ document: PTZPresetListDocument) -> Table {
        var table = Table([.init("PRESET", isIdentifier: true), .init("NAME")])
        table.rows = document.presets.map { [.init($0.token), .init($0.name)] }
        table.footer = Quantity.count(document.presets.count, "preset")
        return table
    }
}

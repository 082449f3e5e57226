import Console
import ControlAPI
import ErrorCatalog
import Testing

@testable import BoxView

struct TableTests {
    @Test func `200 cameras fit 80 columns, each on a line of its own`() {
        let cameras = (0..<200).map { number in
            Samples.camera(
                "cam-\(number)", name: "Camera number \(number) in the long hall",
                number % 7 == 0
                    ? Samples.stream(
                        "cam-\(number)", .failed, reason: "a long story about a relay", code: .relayRefused) : nil)
        }
        let lines = StatusView.lines(Samples.status(cameras), style: Style(width: 80))
        let rows = lines.filter { $0.contains("cam-") }
        #expect(rows.count == 200 || rows.count == 201)  // one more may name a camera in its advice
        for line in lines.dropFirst(3).prefix(201) { #expect(DisplayWidth.of(line) <= 80, "\(line)") }
        for number in 0..<200 { #expect(rows.contains { $0.hasPrefix("  cam-\(number) ") }) }
        #expect(lines.last?.contains("200 cameras") == true)
    }

    @Test(arguments: [20, 40, 79, 80, 120, 500])
    func `identifiers are whole at every width`(width: Int) {
        let id = "a-camera-with-a-long-id1"
        let table = CameraView.table(
            CameraListDocument(cameras: [Samples.camera(id, name: String(repeating: "n", count: 300))]))
        let lines = table.lines(Style(width: width))
        #expect(lines.count == 3)
        #expect(lines[1].hasPrefix(id))
        if width >= 120 { #expect(DisplayWidth.of(lines[1]) <= width) }
    }

    @Test func `a name of 300 emoji is cut between two of them`() {
        let name = String(repeating: "👩‍👩‍👧‍👦🎥", count: 150)
        for width in [80, 81, 82, 120] {
            let table = CameraView.table(CameraListDocument(cameras: [Samples.camera("front", name: name)]))
            let row = table.lines(Style(width: width))[1]
            #expect(DisplayWidth.of(row) <= width)
            #expect(row.contains("…"))
            // Every emoji that is there is whole.
            #expect(row.filter { !$0.isASCII && $0 != "…" && $0 != "●" }.allSatisfy { "👩‍👩‍👧‍👦🎥".contains($0) })
        }
    }

    @Test func `nothing that a name holds reaches the terminal as a command`() {
        func isObeyed(_ scalar: Unicode.Scalar) -> Bool {
            scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value) || (0x202A...0x202E).contains(scalar.value)
                || (0x2066...0x2069).contains(scalar.value)
        }
        let hostile = Samples.hostile
        let camera = Samples.camera(hostile, name: hostile, Samples.stream(hostile, .failed, reason: hostile))
        var status = Samples.status([camera], name: hostile)
        status.hint = hostile
        status.reason = hostile
        let check = HealthCheck(check: hostile, object: hostile, state: .fail, since: 1, evidence: hostile)
        status.health = HealthReport(
            state: .fail, time: 1, checks: [check], ladder: LadderDocument(steps: []), recoveries: [:])
        let report = DoctorReport(
            time: 1, version: "1", isOffline: false,
            findings: [.init(check: hostile, state: .fail, evidence: hostile, hint: hostile)])
        let line = LogLine(time: 1, unit: hostile, camera: nil, level: "error", code: nil, message: hostile, cursor: "")
        let node = VideoNodeDocument(
            device: hostile, name: hostile, kind: .camera, bus: hostile, index: 0, stableID: hostile, stablePath: nil)
        let style = Style(width: 120)
        let lines =
            StatusView.lines(status, style: style) + DoctorView.lines(report, style: style)
            + CameraView.table(CameraListDocument(cameras: [camera])).lines(style)
            + CameraView.lines(camera, style: style)
            + StreamView.lines(camera.stream, style: style) + LogView.line(line, style: style)
            + DiscoveryView.lines(DiscoveryDocument(nodes: [node], limits: [hostile]), style: style)
        for line in lines { #expect(!line.unicodeScalars.contains(where: isObeyed), "\(line.debugDescription)") }
        #expect(lines.contains { $0.contains("\\u{1b}[31m") && $0.contains("\\u{202e}") })
    }

    @Test func `every mark that changes a text's direction is shown, and joiners stay`() {
        #expect("a\u{200F}b\u{61C}c\u{2028}\n\td".terminalSafe == "a\\u{200f}b\\u{61c}c\\u{2028}\n\td")
        #expect("👩‍👩‍👧‍👦".terminalSafe == "👩‍👩‍👧‍👦")
    }

    /// Where these strings begin, in cells; each is in a line of its own.
    private func columns(_ lines: [String], of texts: [String]) -> Set<Int> {
        Set(
            texts.map { text in
                let line = lines.first { $0.contains(text) }
                return line.flatMap { line in
                    line.firstRange(of: text).map { DisplayWidth.of(String(line[..<$0.lowerBound])) }
                } ?? -1
            })
    }

    @Test func `for a file or another program nothing is cut, and columns stay aligned`() throws {
        let style = Style(width: Style.endless)
        let reason = String(repeating: "the camera refused the password, ", count: 20)
        var cameras = Samples.porch.cameras
        cameras[2].stream.reason = reason
        let status = StatusView.lines(Samples.status(cameras), style: style)
        let states = try status.filter { $0.contains("test:") }.map { line in
            let mark = try #require(line.firstIndex { "●✗".contains($0) })
            return DisplayWidth.of(String(line[..<mark]))
        }
        #expect(states.count == 3 && Set(states).count == 1, "\(states)")
        #expect(status.contains { $0.hasSuffix("WB-2107 \(reason.dropLast())") })
        var health = Samples.health
        health.checks[1].evidence = reason
        let table = HealthView.table(health).lines(style)
        #expect(table.contains { $0.contains(reason) })
        #expect(columns(table, of: health.checks.map(\.evidence)).count == 1)
        // One finding a line.
        let doctor = DoctorView.lines(Samples.doctor, style: style)
        #expect(doctor.count == Samples.doctor.findings.count + 3)
        #expect(columns(doctor, of: Samples.doctor.findings.map(\.evidence)).count == 1)
        for line in status + table + doctor {
            #expect(!line.contains("…") && !line.contains("\u{1B}") && line.last != " ", "\(line)")
        }
    }

    @Test func `colour is there only when it was asked for, and is never the only sign`() {
        let plain = StatusView.lines(Samples.porch, style: Style(width: 120))
        let painted = StatusView.lines(Samples.porch, style: Style(hasColor: true, width: 120))
        #expect(!text(plain).contains("\u{1B}"))
        #expect(text(painted).contains("\u{1B}[32m● live\u{1B}[0m"))
        // Without the colours it is the same screen, word for word.
        let bare = painted.map { line in
            var result = ""
            var rest = line[...]
            while let escape = rest.firstIndex(of: "\u{1B}") {
                result += rest[..<escape]
                rest = rest[escape...].drop { $0 != "m" }.dropFirst()
            }
            return result + rest
        }
        #expect(bare == plain)
        for word in ["live", "failed", "DEGRADED"] { #expect(text(plain).contains(word)) }
    }

    @Test func `a table without rows, without a header, with rows too short or too long`() {
        var table = Table([.init("A", isIdentifier: true), .init("B", .right)])
        #expect(table.lines(Style()) == ["A  B"])
        #expect(table.lines(Style(), header: false) == [])
        table.rows = [[], ["x"], ["x", "y", "z"]]
        table.footer = "3 rows"
        #expect(table.lines(Style(), header: false) == ["", "x", "x  y", "3 rows"])
    }

    @Test func `widths of strings`() {
        for (text, width) in [
            ("", 0), ("abc", 3), ("日本", 4), ("🎥", 2), ("e\u{301}", 1), ("👩‍👩‍👧‍👦", 2), ("\u{200B}", 0), ("é—…", 3),
        ] {
            #expect(DisplayWidth.of(text) == width, "\(text)")
        }
        #expect(DisplayWidth.cut("abcdef", to: 3) == "ab…")
        #expect(DisplayWidth.cut("日本語", to: 4) == "日…")
        #expect(DisplayWidth.cut("abc", to: 3) == "abc")
        #expect(DisplayWidth.cut("abc", to: 0) == "")
        #expect(Style(width: -5).width == 20)
    }

    @Test func `figures as text`() {
        for (seconds, text) in [
            (0.44, "0.4 s"), (41, "41 s"), (842, "14m 02s"), (15_000, "4h 10m"), (1_051_200, "12d 4h"), (-1, "-"),
            (.infinity, "-"),
        ] {
            #expect(Quantity.time(seconds: seconds) == text)
        }
        #expect(
            Quantity.bitRate(2_100_000) == "2.1 Mb/s" && Quantity.bitRate(900) == "0 kb/s"
                && Quantity.bitRate(.nan) == "-")
        #expect(Quantity.date(0) == "1970-01-01 00:00:00Z" && Quantity.date(951_782_400) == "2000-02-29 00:00:00Z")
        #expect(Quantity.date(.min) == "1970-01-01 00:00:00Z" && Quantity.date(.max) == "9999-12-31 23:59:59Z")
        #expect(Quantity.count(1, "camera") == "1 camera" && Quantity.count(0, "camera") == "0 cameras")
    }
}

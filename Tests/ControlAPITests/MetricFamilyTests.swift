import Testing

@testable import ControlAPI

struct MetricFamilyTests {
    @Test func `families are written as Prometheus reads them`() {
        let families = [
            MetricFamily(
                "watchbox_frames_published_total", .counter, help: "Frames\nthat the relay \\ has.",
                samples: [
                    .init(12, labels: [("camera", "front"), ("stream", "a\"b\\c\nd")]), .init(0.5, labels: []),
                ]),
            MetricFamily("watchbox_up", .gauge, help: "1 while it runs.", samples: []),
        ]
        #expect(
            MetricFamily.text(families) == #"""
                # HELP watchbox_frames_published_total Frames\nthat the relay \\ has.
                # TYPE watchbox_frames_published_total counter
                watchbox_frames_published_total{camera="front",stream="a\"b\\c\nd"} 12
                watchbox_frames_published_total 0.5
                # HELP watchbox_up 1 while it runs.
                # TYPE watchbox_up gauge

                """#)
    }

    @Test(arguments: [
        (0.0, "0"), (-1.0, "-1"), (1e14, "100000000000000"), (1e15, "1000000000000000.0"), (1e16, "1e+16"),
        (0.1, "0.1"), (1e-9, "1e-09"),
        (Double.infinity, "+Inf"), (-Double.infinity, "-Inf"), (.nan, "NaN"),
        (Double(UInt64.max), "1.8446744073709552e+19"),
    ])
    func `numbers are those of Go`(value: Double, text: String) {
        let written = MetricFamily.text([MetricFamily("a", .gauge, help: "b", samples: [.init(value)])])
        #expect(written.split(separator: "\n").last == "a \(text)")
    }

    @Test func `a histogram passes the linter`() {
        let histogram = MetricFamily(
            "watchbox_restart_seconds", .histogram, help: "How long.",
            samples: [
                .init(1, labels: [("le", "0.5")], suffix: "_bucket"),
                .init(3, labels: [("le", "+Inf")], suffix: "_bucket"),
                .init(2.5, suffix: "_sum"), .init(3, suffix: "_count"),
            ])
        #expect(PrometheusLinter.faults(MetricFamily.text([histogram])) == [])
    }

    @Test(arguments: [
        "a 1", "# TYPE a gauge\n# HELP a b\na 1", "# HELP a b\n# TYPE a gauge\nb 1", "# HELP a b\n# TYPE a gauge\na x",
        "# HELP a b\n# TYPE a counter\na 1", "# HELP a b\n# TYPE a gauge\na{b=\"c} 1",
        "# HELP a b\n# TYPE a gauge\na{b=c} 1",
        "# HELP a b\n# TYPE a gauge\na 1\na 2", "# HELP 1a b\n# TYPE 1a gauge\n1a 1",
        "# HELP a_total b\n# TYPE a_total gauge\na_total 1",
        "# HELP a b\n# TYPE a gauge\na{l=\"1\",l=\"2\"} 1", "# HELP a b\n# TYPE a nothing\na 1",
        "# HELP a b\n# TYPE a gauge\na 1\n# HELP a b\n# TYPE a gauge\na{x=\"1\"} 1",
        "# HELP a b\n# TYPE a gauge\na{x=\"\\z\"} 1",
        "# HELP a b\n# TYPE a histogram\na_bucket 1",
    ])
    func `the linter finds what Prometheus would refuse`(text: String) {
        #expect(!PrometheusLinter.faults(text + "\n").isEmpty)
    }

    @Test func `the linter wants a line break at the end`() {
        #expect(PrometheusLinter.faults("# HELP a b\n# TYPE a gauge\na 1") == ["no line break at the end"])
        #expect(PrometheusLinter.faults("# HELP a b\n# TYPE a gauge\na{x=\"\\\"\\n\\\\\"} 1e+15\n") == [])
    }
}

/// Reads the text exposition format 0.0.4, and asks for what `promtool check metrics` asks for.
enum PrometheusLinter {
    static func faults(_ text: String) -> [String] {
        guard text.isEmpty || text.hasSuffix("\n") else { return ["no line break at the end"] }
        var faults: [String] = []
        var families: [String: String] = [:]
        var family: (name: String, kind: String?)?
        var series: Set<String> = []
        for line in text.split(separator: "\n", omittingEmptySubsequences: true).map(String.init) {
            let words = line.split(separator: " ", maxSplits: 3).map(String.init)
            if line.hasPrefix("# HELP ") {
                if words.count < 4 { faults.append("no help: \(line)") }
                if families.updateValue("", forKey: words[2]) != nil { faults.append("twice: \(line)") }
                if words[2].wholeMatch(of: /[a-zA-Z_:][a-zA-Z0-9_:]*/) == nil { faults.append("name: \(line)") }
                family = (words[2], nil)
            } else if line.hasPrefix("# TYPE ") {
                guard words.count == 4, family?.name == words[2], family?.kind == nil else {
                    faults.append("type without its help: \(line)")
                    continue
                }
                if !["counter", "gauge", "histogram"].contains(words[3]) { faults.append("kind: \(line)") }
                if (words[3] == "counter") != words[2].hasSuffix("_total") {
                    faults.append("counters end in _total: \(line)")
                }
                family?.kind = words[3]
            } else {
                faults += sample(line, family)
                let name = line.split(separator: " ").dropLast().joined(separator: " ")
                if !series.insert(name).inserted { faults.append("series twice: \(line)") }
            }
        }
        return faults
    }

    private static func sample(_ line: String, _ family: (name: String, kind: String?)?) -> [String] {
        let form = /([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\+Inf|-Inf|NaN|[-+0-9.e]+)/
        guard let match = line.wholeMatch(of: form), let family, let kind = family.kind else {
            return ["not a sample: \(line)"]
        }
        let suffixes = kind == "histogram" ? ["_bucket", "_sum", "_count"] : [""]
        guard suffixes.contains(where: { match.1 == family.name + $0 }) else { return ["of no family: \(line)"] }
        if !["+Inf", "-Inf", "NaN"].contains(match.3), Double(match.3) == nil { return ["number: \(line)"] }
        var labels: [Substring] = []
        if let text = match.2 {
            var rest = text
            while let label = rest.prefixMatch(of: /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(?:,|$)/) {
                labels.append(label.1)
                rest = rest[label.range.upperBound...]
            }
            if !rest.isEmpty { return ["labels: \(line)"] }
        }
        if Set(labels).count != labels.count { return ["label twice: \(line)"] }
        return match.1.hasSuffix("_bucket") && kind == "histogram" && !labels.contains("le") ? ["no le: \(line)"] : []
    }
}

import PrometheusText
import TestSupport
import Testing

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

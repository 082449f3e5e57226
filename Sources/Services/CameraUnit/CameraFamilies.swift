internal import CameraModel
internal import PrometheusText

/// Metric families whose samples bear one camera's label. Names are given without their beginning, `watchbox_`.
struct CameraFamilies {
    private let camera: (name: String, value: String)
    private(set) var all: [MetricFamily] = []

    init(camera: String) {
        self.camera = ("camera", camera)
    }

    mutating func counter(_ name: String, _ help: String, _ value: some BinaryInteger) {
        counter(name, help, Double(value))
    }

    mutating func counter(_ name: String, _ help: String, _ value: Double) {
        add(name, .counter, help, [.init(value, labels: [camera])])
    }

    /// Left out while there is no value.
    mutating func gauge(_ name: String, _ help: String, _ value: Double?) {
        if let value { add(name, .gauge, help, [.init(value, labels: [camera])]) }
    }

    mutating func flag(_ name: String, _ help: String, _ isSet: Bool) {
        gauge(name, help, isSet ? 1 : 0)
    }

    /// A sample for each value of a label.
    mutating func each(
        _ label: String, _ name: String, _ kind: MetricFamily.Kind, _ help: String, _ values: [(String, UInt64)]
    ) {
        add(name, kind, help, values.map { .init(Double($1), labels: [camera, (label, $0)]) })
    }

    /// What cannot be counted.
    mutating func info(_ name: String, _ help: String, _ labels: [(name: String, value: String)]) {
        add(name, .gauge, help, [.init(1, labels: [camera] + labels)])
    }

    mutating func histogram(_ name: String, _ help: String, _ durations: DurationHistogram) {
        var seen: UInt64 = 0
        var samples: [MetricFamily.Sample] = []
        for (index, count) in durations.counts.enumerated() {
            seen += count
            let isLast = index >= DurationHistogram.limits.count
            let end = isLast ? "+Inf" : "\(Double(DurationHistogram.limits[index]) / 1e9)"
            samples.append(.init(Double(seen), labels: [camera, (name: "le", value: end)], suffix: "_bucket"))
        }
        samples.append(.init(Double(durations.total) / 1e9, labels: [camera], suffix: "_sum"))
        samples.append(.init(Double(seen), labels: [camera], suffix: "_count"))
        add(name, .histogram, help, samples)
    }

    private mutating func add(
        _ name: String, _ kind: MetricFamily.Kind, _ help: String, _ samples: [MetricFamily.Sample]
    ) {
        all.append(MetricFamily("watchbox_" + name, kind, help: help, samples: samples))
    }
}

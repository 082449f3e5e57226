/// One metric in Prometheus's text exposition format 0.0.4.
public struct MetricFamily: Equatable, Sendable {
    public enum Kind: String, Sendable {
        case counter
        case gauge
        case histogram
    }

    public struct Sample: Equatable, Sendable {
        /// Nothing, or `_bucket`, `_sum`, `_count` of a histogram.
        public var suffix: String
        /// In the order in which they are written.
        public var labels: [(name: String, value: String)]
        public var value: Double

        public init(_ value: Double, labels: [(name: String, value: String)] = [], suffix: String = "") {
            self.value = value
            self.labels = labels
            self.suffix = suffix
        }

        public static func == (left: Sample, right: Sample) -> Bool {
            left.suffix == right.suffix && left.value == right.value
                && left.labels.elementsEqual(right.labels, by: { $0.name == $1.name && $0.value == $1.value })
        }
    }

    /// With its unit: `watchbox_frames_published_total`.
    public var name: String
    public var help: String
    public var kind: Kind
    public var samples: [Sample]

    public init(_ name: String, _ kind: Kind, help: String, samples: [Sample]) {
        self.name = name
        self.kind = kind
        self.help = help
        self.samples = samples
    }

    /// `text/plain; version=0.0.4`.
    public static let mediaType = "text/plain; version=0.0.4; charset=utf-8"

    public static func text(_ families: [MetricFamily]) -> String {
        var text = ""
        for family in families {
            text += "# HELP \(family.name) \(escaped(family.help, quotes: false))\n"
            text += "# TYPE \(family.name) \(family.kind.rawValue)\n"
            for sample in family.samples {
                let labels = sample.labels.map { "\($0.name)=\"\(escaped($0.value, quotes: true))\"" }
                text += family.name + sample.suffix
                if !labels.isEmpty { text += "{\(labels.joined(separator: ","))}" }
                text += " \(number(sample.value))\n"
            }
        }
        return text
    }

    private static func number(_ value: Double) -> String {
        if value.isNaN { return "NaN" }
        if value.isInfinite { return value < 0 ? "-Inf" : "+Inf" }
        return value == value.rounded() && abs(value) < 1e15 ? "\(Int64(value))" : "\(value)"
    }

    private static func escaped(_ text: String, quotes: Bool) -> String {
        var result = ""
        for character in text.unicodeScalars {
            switch character {
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\"" where quotes: result += "\\\""
            default: result.unicodeScalars.append(character)
            }
        }
        return result
    }
}

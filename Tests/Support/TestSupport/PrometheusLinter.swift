/// Reads the text exposition format 0.0.4, and asks for what `promtool check metrics` asks for.
package enum PrometheusLinter {
    package static func faults(_ text: String) -> [String] {
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

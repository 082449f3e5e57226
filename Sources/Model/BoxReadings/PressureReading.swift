internal import Platform

/// Pressure stall information: how much of the last minute some task waited for a resource.
package struct PressureReading: Equatable, Sendable {
    /// Share of the last minute, 0 to 1; nil when the kernel does not report it (`psi=0`).
    package var memory: Double?
    package var processor: Double?
    package var storage: Double?
    /// Processes that the kernel ended for lack of memory since boot, at whatever limit; nil when it does not count them.
    package var killedForMemory: Int64?

    package init(
        memory: Double? = nil, processor: Double? = nil, storage: Double? = nil, killedForMemory: Int64? = nil
    ) {
        self.memory = memory
        self.processor = processor
        self.storage = storage
        self.killedForMemory = killedForMemory
    }

    package static func read(_ paths: BoxPaths) -> PressureReading {
        func pressure(_ resource: String) -> Double? {
            SmallFile.line("\(paths.processRoot)/pressure/\(resource)").flatMap(someAverage60)
        }
        let counters = SmallFile.text("\(paths.processRoot)/vmstat") ?? ""
        let killed = counters.split(separator: "\n").first { $0.hasPrefix("oom_kill ") }
        return PressureReading(
            memory: pressure("memory"), processor: pressure("cpu"), storage: pressure("io"),
            killedForMemory: killed.flatMap { Int64($0.dropFirst("oom_kill ".count)) })
    }

    /// `some avg10=0.00 avg60=1.25 avg300=0.31 total=123` as 0.0125.
    static func someAverage60(_ text: String) -> Double? {
        let line = text.split(separator: "\n").first { $0.hasPrefix("some ") }
        let field = line?.split(separator: " ").first { $0.hasPrefix("avg60=") }
        guard let field, let percent = Double(field.dropFirst("avg60=".count)), (0...100).contains(percent) else {
            return nil
        }
        return percent / 100
    }
}

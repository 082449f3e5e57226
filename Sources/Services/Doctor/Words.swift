extension Double {
    /// With one digit after the point.
    var tenths: String {
        guard isFinite, abs(self) < 1e12 else { return "\(self)" }
        let tenths = Int64((self * 10).rounded())
        return "\(tenths < 0 ? "-" : "")\(abs(tenths) / 10).\(abs(tenths) % 10)"
    }

    /// A share of 1 as per cent.
    var percent: String { "\((self * 100).tenths) %" }
}

extension Duration {
    var milliseconds: Double {
        let (seconds, attoseconds) = components
        return Double(seconds) * 1000 + Double(attoseconds) / 1e15
    }
}

/// `1 file`, `3 files`.
func counted(_ number: Int, _ one: String, _ many: String? = nil) -> String {
    "\(number) \(number == 1 ? one : many ?? one + "s")"
}

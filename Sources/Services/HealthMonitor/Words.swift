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

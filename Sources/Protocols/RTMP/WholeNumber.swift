extension UInt32 {
    /// An AMF0 number that is whole and in range: stream ids, capabilities. (`init(exactly:)` would do, but needs
    /// libm's `trunc`, which a program of this layer alone does not link.)
    init?(whole number: Double) {
        guard number >= 0, number <= Double(UInt32.max) else { return nil }
        self.init(number)
        guard Double(self) == number else { return nil }
    }
}

/// What `ArchiveGrower` records, to be made again by whoever looks what became of it.
package enum GrownContent {
    /// Segments of each archive.
    package static let count = 12

    /// The plaintext of a segment.
    ///
    /// - Parameter sequence: of the archive.
    package static func segment(_ index: Int, of sequence: UInt64) -> [UInt8] {
        let seed = UInt8(truncatingIfNeeded: sequence &* 31 &+ UInt64(index) &* 7)
        return (0..<(200 + index * 331 % 4000)).map { UInt8(truncatingIfNeeded: $0) &+ seed }
    }
}

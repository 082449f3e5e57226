import Foundation

/// A recording beside the tests, named by what made it.
func fixture(_ name: String) throws -> [UInt8] {
    let directory = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("Fixtures")
    return Array(try Data(contentsOf: directory.appendingPathComponent(name)))
}

/// Units of less than 256 bytes, each behind `head` and its length.
func joined(_ units: [[UInt8]], behind head: [UInt8]) -> [UInt8] {
    var bytes: [UInt8] = []
    for unit in units {
        bytes += head
        bytes.append(UInt8(unit.count))
        bytes += unit
    }
    return bytes
}

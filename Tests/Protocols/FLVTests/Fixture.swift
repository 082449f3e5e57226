import Foundation

/// A recording beside the tests, named by what made it.
func fixture(_ name: String) throws -> [UInt8] {
    let directory = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("Fixtures")
    return Array(try Data(contentsOf: directory.appendingPathComponent(name)))
}

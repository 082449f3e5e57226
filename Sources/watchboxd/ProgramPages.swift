import FoundationEssentials
import Glibc

/// The program's own code in memory.
enum ProgramPages {
    /// Takes the pages of code out of this process that were touched so far. What runs again comes back from the page
    /// cache, a page fault each; what only the start needed, which is most of it, does not.
    ///
    /// Only mappings that are executable and cannot be written are touched: their pages are those of the file.
    static func release() {
        guard let maps = try? String(contentsOfFile: "/proc/self/maps", encoding: .utf8) else { return }
        for line in maps.split(separator: "\n") {
            let fields = line.split(separator: " ", omittingEmptySubsequences: true)
            guard fields.count == 6, fields[1] == "r-xp", fields[5].hasPrefix("/") else { continue }
            let bounds = fields[0].split(separator: "-").compactMap { UInt($0, radix: 16) }
            guard bounds.count == 2, bounds[0] < bounds[1] else { continue }
            madvise(UnsafeMutableRawPointer(bitPattern: bounds[0]), Int(bounds[1] - bounds[0]), MADV_DONTNEED)
        }
    }
}

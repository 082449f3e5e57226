internal import Glibc
public import Platform

/// The recordings of one camera: archives, one after the other, and what became of one that was being written.
public struct RecordingDirectory: Sendable {
    /// A finished one.
    public struct Recording: Equatable, Sendable {
        public var name: RecordingName
        /// Bytes of the file.
        public var size: Int64

        public init(name: RecordingName, size: Int64) {
            self.name = name
            self.size = size
        }
    }

    /// All of them.
    public struct Listing: Equatable, Sendable {
        /// In the order in which they were made.
        public var recordings: [Recording] = []
        /// Of those that were being written: to be finished (`GrowingArchive.finish`), or growing now.
        public var growing: [UInt64] = []

        /// For one that is made after all of these. A number that no box comes to is somebody's joke, and does not count.
        public var nextSequence: UInt64 {
            let sequences = recordings.lazy.map(\.name.sequence) + growing
            return (sequences.filter { $0 < 100_000_000_000 }.max() ?? 0) + 1
        }
    }

    public let path: String

    /// - Parameter path: of the directory.
    public init(_ path: String) {
        self.path = path
    }

    /// Where a finished one is.
    public func path(of name: RecordingName) -> String { "\(path)/\(name.fileName)" }

    /// What is there. Files of other names are nobody's business here, and are left alone.
    public func list() throws(FileFailure) -> Listing {
        let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw FileFailure(call: "open", path: path, number: errno) }
        defer { close(descriptor) }
        var listing = Listing()
        var growing: Set<UInt64> = []
        for file in try Directory.names(of: descriptor, path: path) {
            if let sequence = Self.growing(file) {
                growing.insert(sequence)
            } else if let name = RecordingName(file) {
                var status = stat()
                guard fstatat(descriptor, file, &status, AT_SYMLINK_NOFOLLOW) == 0, status.st_mode & S_IFMT == S_IFREG
                else { continue }
                listing.recordings.append(Recording(name: name, size: Int64(status.st_size)))
            }
        }
        listing.recordings.sort { $0.name.sequence < $1.name.sequence }
        listing.growing = growing.sorted()
        return listing
    }

    private static func growing(_ file: String) -> UInt64? {
        for suffix in [GrowingArchive.partSuffix, GrowingArchive.journalSuffix] where file.hasSuffix(suffix) {
            let stem = file.dropLast(suffix.count)
            guard let sequence = RecordingName.number(stem), RecordingName.stem(sequence) == stem else { continue }
            return sequence
        }
        return nil
    }
}

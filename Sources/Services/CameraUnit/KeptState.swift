internal import FoundationEssentials

/// The directory in which a camera's process keeps what it learned: it belongs to one camera, and the next one of the same ID
/// begins with an empty one.
public enum KeptState {
    private static let markName = "instance"

    /// - Parameters:
    ///   - directory: the process's own.
    ///   - instance: of `CameraConfiguration`.
    /// - Returns: true: it was another camera's, and is empty now. One without a mark is of a time before there were marks, and
    ///   stays.
    /// - Throws: what the kernel says; nothing is marked then, so that the next start tries again.
    public static func claim(_ directory: String, for instance: String) throws -> Bool {
        let files = FileManager.default
        let mark = "\(directory)/\(markName)"
        let former = files.contents(atPath: mark).map { String(decoding: $0.prefix(256), as: UTF8.self) }
        guard former != instance else { return false }
        if former != nil {
            for name in try files.contentsOfDirectory(atPath: directory) where name != markName {
                try files.removeItem(atPath: "\(directory)/\(name)")
            }
        }
        try Data(instance.utf8).write(to: URL(filePath: mark), options: .atomic)
        return former != nil
    }
}

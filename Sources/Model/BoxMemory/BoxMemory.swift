internal import Database

/// What the box remembers and may lose: what cameras reported of themselves, thumbnails, and the events of late. The owner
/// is the control process. The configuration is not here: it is in the generations' files.
///
/// Every call is one transaction: after a power cut there is all of it or nothing. What returned is on the disk; of
/// what cameras reported and of their events the last may be lost then, so that storing them does not make the card
/// write each time. Calls block for as long as the disk takes. No secret is ever stored here; strings that hold one are refused
/// or left out.
public final class BoxMemory: Sendable {
    /// Events that are kept, of all topics together.
    public static let eventLimit = 10_000
    /// Cameras that something is remembered of.
    static let cameraLimit = 256
    /// Of one camera.
    public static let profileLimit = 16
    /// Bytes of a JPEG.
    public static let thumbnailLimit = 256 << 10

    private let opened: OpenedDatabase

    /// Opens the memory at `path`, or makes it, and brings it to today's schema.
    ///
    /// - Throws: `.database(.fromFuture)` when a newer WatchBox wrote it; the file stays as it is.
    public init(path: String) throws(BoxMemoryError) {
        do {
            opened = try DatabaseOpening.open(path: path, durability: .configuration, migrations: Schema.migrations)
        } catch {
            throw .database(error)
        }
    }

    /// Where a damaged memory was moved to; this one began empty. To be reported to the owner.
    public var setAside: String? { opened.setAside }

    func read<Value: Sendable>(_ body: (DatabaseConnection) throws -> Value) throws(BoxMemoryError) -> Value {
        do { return try opened.read(body) } catch { throw BoxMemoryError(error, path: opened.path) }
    }

    func write<Value: Sendable>(
        durability: Durability? = nil, _ body: (DatabaseConnection) throws -> Value
    ) throws(BoxMemoryError) -> Value {
        do { return try opened.write(durability: durability, body) } catch {
            throw BoxMemoryError(error, path: opened.path)
        }
    }
}

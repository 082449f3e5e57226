import Foundation
import Synchronization

/// Files that programs make, once, for all tests that want them.
///
/// On a thread of its own: tests wait for it without holding one of the pool's few threads.
final class MadeFiles: Sendable {
    private static let places = Mutex<[URL]>([])
    private static let cleansUp: Void = {
        atexit { MadeFiles.removeAll() }
    }()

    private let made: Task<TemporaryDirectory?, Never>

    /// - Parameter make: fills the directory; false when it could not.
    init(_ make: @escaping @Sendable (TemporaryDirectory) -> Bool) {
        made = Task {
            await withCheckedContinuation { done in
                Thread.detachNewThread {
                    let place = TemporaryDirectory()
                    guard make(place) else { return done.resume(returning: nil) }
                    _ = Self.cleansUp
                    Self.places.withLock { $0.append(place.url) }
                    done.resume(returning: place)
                }
            }
        }
    }

    /// Nil when they could not be made.
    var place: TemporaryDirectory? {
        get async { await made.value }
    }

    private static func removeAll() {
        for place in places.withLock({ $0 }) { try? FileManager.default.removeItem(at: place) }
    }
}

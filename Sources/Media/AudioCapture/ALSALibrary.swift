internal import CALSA

/// libasound, loaded at its first use.
enum ALSALibrary {
    private static let isLoaded = watchbox_alsa_load() != 0

    static func load() throws(AudioCaptureError) {
        if !isLoaded { throw .noLibrary }
    }
}

/// Keeps what libasound says of a failure, which it would print to stderr.
final class ALSANote {
    private let note = UnsafeMutablePointer<watchbox_alsa_note>.allocate(capacity: 1)

    init() {
        note.initialize(to: watchbox_alsa_note())
    }

    deinit {
        note.deallocate()
    }

    func taking<Result>(_ body: () -> Result) -> Result {
        watchbox_alsa_listen(note)
        defer { watchbox_alsa_unlisten() }
        return body()
    }

    /// Of the newest call: libasound's summary, and the cause where it names one; empty when it said nothing.
    var text: String {
        let first = String(cString: watchbox_alsa_note_first(note))
        let last = String(cString: watchbox_alsa_note_last(note))
        return first == last ? last : "\(last): \(first)"
    }
}

internal import Media

/// Matches what comes out of an encoder with what went in, by time stamp: drivers drop frames silently, and
/// return packets of frames that were never sent.
///
/// A frame that is passed over by a later one was dropped. After a damaged packet nothing is handed on until a key
/// frame, because what follows refers to what was lost. Encoders give frames in the order in which they got them: no
/// B-frames are asked for.
struct EncoderLedger {
    struct Frame: Equatable, Sendable {
        var presentationTime: MediaTime
        var captureInstant: UInt64?
    }

    enum Verdict: Equatable {
        case deliver(Frame)
        /// Of a frame that is known, and of no use.
        case giveUp(Frame)
        /// Of no frame that is known.
        case ignore
    }

    /// What can be said of a packet without knowing its frame.
    enum Condition: Equatable {
        case intact
        /// Without an access unit, or with parameter sets that make no sense.
        case unreadable
        /// The driver says that it is damaged.
        case flagged
    }

    private(set) var errors: UInt64 = 0
    private(set) var drops: UInt64 = 0
    private(set) var unmatched: UInt64 = 0
    /// What came out last is damaged, or nothing has come out yet.
    private(set) var isAwaitingKeyFrame = true
    /// In the order of their time stamps.
    private var pending: [(tick: Int64, frame: Frame)] = []

    /// More frames than any encoder holds back: the buffers of a V4L2 encoder on both sides.
    static let maxDelay = 128

    var waiting: Int { pending.count }

    /// - Parameter tick: greater than all before.
    mutating func sent(_ frame: Frame, at tick: Int64) {
        pending.append((tick, frame))
    }

    mutating func received(tick: Int64, isKeyFrame: Bool, _ condition: Condition) -> Verdict {
        guard let index = pending.firstIndex(where: { $0.tick == tick }) else {
            if condition == .flagged {
                errors += 1
                isAwaitingKeyFrame = true
            } else {
                unmatched += 1
            }
            return .ignore
        }
        let frame = pending[index].frame
        drops += UInt64(index)
        pending.removeFirst(index + 1)
        if condition != .intact {
            isAwaitingKeyFrame = true
        } else if isKeyFrame {
            isAwaitingKeyFrame = false
        }
        if isAwaitingKeyFrame {
            errors += 1
            return .giveUp(frame)
        }
        return .deliver(frame)
    }

    /// Nothing could be made of a packet that was to be delivered.
    mutating func gaveUp() {
        errors += 1
    }

    /// The encoder is closed: what it holds does not come out any more, and the next one begins with a key frame.
    mutating func ended() {
        drops += UInt64(pending.count)
        pending = []
        isAwaitingKeyFrame = true
    }
}

public import ErrorCatalog

/// What a camera process can say of its recording. All counts begin with the process and never go back.
public struct RecordingStatistics: Codable, Equatable, Sendable {
    public enum State: String, Codable, Sendable, CaseIterable {
        /// No key of the KAS is known: nothing may be written.
        case waitingForKey
        /// The source has not delivered a key frame yet.
        case waitingForFrames
        /// Frames come, and there is nothing to record them for.
        case waitingForEvent
        case recording
        /// The disk does not take it; it is tried again.
        case failing
        case stopped
    }

    /// What it is or was recorded for.
    public struct Event: Codable, Equatable, Sendable {
        public enum Cause: String, Codable, Sendable, CaseIterable {
            case motion
            case tamper
            case digitalInput
            /// A person or a program asked for it.
            case mark
            /// One of the camera's spans of the week.
            case schedule
        }

        public var cause: Cause
        /// Milliseconds since 1970, when it began or was last reported.
        public var time: Int64

        public init(cause: Cause, time: Int64) {
            self.cause = cause
            self.time = time
        }
    }

    public var state: State = .waitingForKey
    /// Why it is in this state, for a person; nil when there is nothing to say.
    public var reason: String?
    public var code: ErrorCode?
    /// Of finished recordings.
    public var files = 0
    /// Of all files of the camera's recordings, that which grows included.
    public var bytes: Int64 = 0
    /// Of `bytes`, those that stay until somebody lets them go.
    public var pinnedBytes: Int64 = 0
    /// When the oldest one begins, in milliseconds since 1970; nil: there is none.
    public var oldest: Int64?
    /// When the last frame on the disk was written there, in milliseconds since 1970.
    public var newest: Int64?
    /// Access units on the disk.
    public var frames: UInt64 = 0
    /// Access units that the disk was too slow for, or that came while nothing could be written.
    public var droppedFrames: UInt64 = 0
    /// Bytes that were written, journals included; not what the file system adds.
    public var writtenBytes: UInt64 = 0
    /// Seconds in which `writtenBytes` were written.
    public var seconds: Double = 0
    /// Recordings that went for age, size, or room on the disk.
    public var deletedFiles: UInt64 = 0
    /// The newest one; nil: there was none, or the camera is recorded all the time.
    public var lastEvent: Event?
    /// What it is recorded for; nil: all the time.
    public var causes: [Event.Cause]?
    /// `sha256//…` of the key that opens what is recorded now, as the KAS does; nil: the KAS alone does.
    public var recoveryKey: String?

    public init() {}

    /// What it waits for, for a person, while it waits.
    public var awaited: String {
        guard let causes, !causes.contains(.motion) else { return "an event" }
        return causes.contains(.schedule) ? "its schedule or a mark" : "a mark"
    }

    /// What goes to the disk in a day at this rate; nil in the first ten seconds.
    public var bytesPerDay: Double? { seconds >= 10 ? Double(writtenBytes) / seconds * 86_400 : nil }
}

internal import CSandbox
internal import Glibc
internal import Platform

/// What a process that decodes untrusted bytes gives up before it reads the first of them: files, network, other
/// processes, credentials, memory without an end. What breaks into the decoder then holds the bytes that it was sent.
///
/// libav must be loaded before: nothing can be opened afterwards. docs/design/0013 has the reasons.
public enum DecoderSandbox {
    /// What such a process may use.
    public struct Limits: Equatable, Sendable {
        /// Bytes that it may take beyond those that it has when it enters; shared memory that it was given is not
        /// counted. A frame that takes more is damaged. Where a unit's memory is at its end nevertheless, the kernel
        /// ends decoders first (`oom_score_adj`).
        public var memory: Int
        /// After which the kernel ends it; nil: its parent does.
        public var seconds: UInt32?
        /// Added to its priority.
        public var niceness: Int32 = 0

        /// A key frame of H.264 or H.265 with 4096x4096 pixels takes a few frames of 24 MiB.
        public static let keyFrame = 200 << 20
        /// A JPEG of 4096x4096 pixels with all its chroma takes 48 MiB, its bytes 16 MiB.
        public static let frames = 128 << 20
        /// A packet of audio has 8 KiB.
        public static let audio = 16 << 20

        public init(memory: Int = Self.keyFrame, seconds: UInt32? = nil, niceness: Int32 = 0) {
            self.memory = memory
            self.seconds = seconds
            self.niceness = niceness
        }
    }

    /// A part of the sandbox. All are entered; the check of the sandbox tries each by itself.
    public enum Layer: String, CaseIterable, Sendable {
        case limits, landlock, seccomp
    }

    /// What this kernel gave.
    public struct Report: Equatable, Sendable, CustomStringConvertible {
        /// Version of landlock in force; nil: this kernel has none, or a service manager refused it.
        public var landlock: Int?
        /// System calls are filtered.
        public var isFiltered: Bool

        public init(landlock: Int?, isFiltered: Bool) {
            self.landlock = landlock
            self.isFiltered = isFiltered
        }

        /// What is missing, as a message; nil: nothing.
        public var lack: String? {
            switch (landlock, isFiltered) {
            case (.some, true): nil
            case (nil, true): "this kernel has no landlock: decoders are held by the filter of system calls alone"
            case (.some, false): "this kernel filters no system calls: decoders are held by landlock alone"
            case (nil, false): "this kernel has neither landlock nor a filter of system calls: nothing is decoded"
            }
        }

        /// At least one of the two holds; without, nothing is decoded.
        public var isHeld: Bool { landlock != nil || isFiltered }

        /// "landlock 7, system calls are filtered".
        public var description: String {
            "\(landlock.map { "landlock \($0)" } ?? "no landlock"), system calls are \(isFiltered ? "" : "not ")filtered"
        }

        /// The line that a child sends before it reads anything: "sandbox 7 1".
        public var line: [UInt8] { Array("sandbox \(landlock ?? 0) \(isFiltered ? 1 : 0)\n".utf8) }

        /// Takes the line off `bytes`; nil when they do not begin with one.
        public init?(takenFrom bytes: inout [UInt8]) {
            guard let end = bytes.prefix(Self.maxLineLength).firstIndex(of: 0x0A) else { return nil }
            let words = bytes[..<end].split(separator: UInt8(ascii: " ")).map { String(decoding: $0, as: UTF8.self) }
            guard words.count == 3, words[0] == "sandbox", let version = Int(words[1]), (0...999).contains(version),
                let filtered = Int(words[2]), (0...1).contains(filtered)
            else { return nil }
            landlock = version > 0 ? version : nil
            isFiltered = filtered == 1
            bytes.removeFirst(end + 1)
        }

        static let maxLineLength = 32
    }

    /// The sandbox could not be entered, though this kernel has it: nothing may be decoded then.
    public struct Failure: Error, CustomStringConvertible, Sendable {
        public var call: String
        public var number: Int32
        public var description: String {
            "the decoder's sandbox cannot be entered: \(call): \(SystemMessage.text(number))"
        }
    }

    /// What this kernel has, from outside: a service manager may allow less.
    public static var offered: Report {
        let version = wb_landlock_version()
        return Report(landlock: version > 0 ? Int(version) : nil, isFiltered: wb_seccomp_is_available() == 1)
    }

    /// For good, for the whole process. Descriptors above standard error are closed, and standard error leads nowhere.
    ///
    /// - Parameter layers: all of them, but for the check of the sandbox.
    /// - Throws: when a part that this kernel has does not take hold.
    public static func enter(
        _ limits: Limits, layers: Set<Layer> = Set(Layer.allCases)
    ) throws(Failure) -> Report {
        let used = try Memory()
        // Before the process belongs to no one. Where it cannot be, the limits below still hold.
        if case let score = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC), score >= 0 {
            _ = write(score, "1000", 4)
            close(score)
        }
        try check(wb_process_harden(), "prctl")
        try check(wb_close_from(STDERR_FILENO + 1), "close_range")
        try endStandardError()
        // What the loader needed to know is known.
        clearenv()
        var report = Report(landlock: nil, isFiltered: false)
        if layers.contains(.landlock) {
            let version = wb_landlock_enter()
            // EPERM: filtered away by a service manager of the unit; it is reported like a kernel without.
            if version < 0, ![-ENOSYS, -EOPNOTSUPP, -EPERM].contains(version) {
                throw Failure(call: "landlock_restrict_self", number: -version)
            }
            report.landlock = version > 0 ? Int(version) : nil
        }
        // Landlock takes a descriptor while it is entered.
        if layers.contains(.limits) { try bound(limits, used) }
        if layers.contains(.seccomp), wb_seccomp_is_available() == 1 {
            try check(wb_seccomp_enter(), "seccomp")
            report.isFiltered = true
        }
        guard report.isHeld || layers.count < Layer.allCases.count else {
            throw Failure(call: "neither landlock nor seccomp", number: ENOSYS)
        }
        return report
    }

    /// The journal is one more reader to lie to.
    private static func endStandardError() throws(Failure) {
        let nothing = open("/dev/null", O_WRONLY | O_CLOEXEC)
        guard nothing >= 0 else {
            close(STDERR_FILENO)
            return
        }
        guard dup2(nothing, STDERR_FILENO) >= 0 else { throw Failure(call: "dup2", number: errno) }
        close(nothing)
    }

    /// What this process has, in bytes.
    private struct Memory {
        /// All that is mapped, and what of it is data.
        var mapped: Int
        var data: Int

        init() throws(Failure) {
            let line = SmallFile.line("/proc/self/statm") ?? ""
            let pages = line.split(separator: " ").map { Int($0) ?? 0 }
            // size resident shared text lib data dt
            guard pages.count >= 6 else { throw Failure(call: "/proc/self/statm", number: EINVAL) }
            mapped = pages[0] * Int(getpagesize())
            data = pages[5] * Int(getpagesize())
        }
    }

    private static func bound(_ limits: Limits, _ used: Memory) throws(Failure) {
        if let seconds = limits.seconds { alarm(seconds) }
        if limits.niceness > 0 { _ = nice(limits.niceness) }
        try bound(RLIMIT_DATA, to: rlim_t(used.data + limits.memory), "RLIMIT_DATA")
        // Data that is made read-only no longer counts as data.
        try bound(RLIMIT_AS, to: rlim_t(used.mapped + limits.memory), "RLIMIT_AS")
        try bound(RLIMIT_CORE, to: 0, "RLIMIT_CORE")
        try bound(RLIMIT_FSIZE, to: 0, "RLIMIT_FSIZE")
        try bound(RLIMIT_NOFILE, to: 0, "RLIMIT_NOFILE")
    }

    private static func bound(_ resource: __rlimit_resource, to value: rlim_t, _ name: String) throws(Failure) {
        var limit = rlimit(rlim_cur: value, rlim_max: value)
        guard setrlimit(__rlimit_resource_t(resource.rawValue), &limit) == 0 else {
            throw Failure(call: "setrlimit \(name)", number: errno)
        }
    }

    private static func check(_ result: Int32, _ call: String) throws(Failure) {
        guard result < 0 else { return }
        throw Failure(call: call, number: -result)
    }
}

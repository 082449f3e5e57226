internal import HTTPClient
internal import ONVIF
internal import Platform

/// What a device object remembers between two calls.
struct DeviceState {
    /// When the device's clock was read, and what it showed then.
    struct ClockReading {
        var candidates: ClockCandidates
        /// Ours, when the device looked at its clock.
        var wallMilliseconds: Int64
        var nanoseconds: UInt64
        var zone: String?
        /// The device reported its time; false when it only sent a Date.
        var isReported: Bool

        /// The device's time now. It does not follow when our own clock is set, except for the candidate that is our
        /// own.
        func milliseconds(_ reading: ClockCandidates.Reading) -> Int64 {
            if reading.candidate == .own { return Clocks.wallMilliseconds }
            let passed = Int64(clamping: (Clocks.boot &- nanoseconds) / 1_000_000)
            return wallMilliseconds + passed + reading.offset
        }
    }

    /// What was asked of PTZ.
    struct Movement {
        /// Of the newest one. A stop that belongs to an older one is not sent.
        var number: UInt64 = 0
        /// A continuous one began, and was not stopped since, as far as is known.
        var isMoving = false
        /// Asked for, and not answered yet.
        var underWay = 0
    }

    var clock: ClockReading?
    var login: LoginDialogue?
    /// Of the device service: as given, or with the scheme that was found.
    var url: String
    /// Of https; becomes a pin with the first answer.
    var trust: HTTPTrust
    var pin: String?
    var address: String?
    var services: DeviceServices?
    var profiles: [MediaProfile]?
    var repaired: [DeviceDescription.RepairedAddress] = []
    /// Transmissions, as far as this side made them.
    var requests = 0
    /// Who pulls events, by number.
    var readers: [Int: Task<Void, Never>] = [:]
    var readerCount = 0
    var movement = Movement()
}

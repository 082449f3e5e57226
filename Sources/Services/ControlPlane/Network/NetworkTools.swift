internal import CameraModel
internal import ControlAPI
internal import Discovery
internal import ErrorCatalog
internal import ONVIF

/// What control does on the network itself: it looks for cameras, tries one out, and hears those that announce
/// themselves. A test brings its own.
struct NetworkTools: Sendable {
    struct SearchProgress: Sendable, Equatable {
        /// With the marks `new` and `needsLogin`; which of them is a camera of this box, is not known here.
        var found: [FoundCameraDocument] = []
        var probed = 0
        var total = 0
        var remarks: [String] = []
    }

    /// Runs once, until its task is cancelled at the latest, and answers with what it found.
    typealias Search =
        @Sendable (
            _ progress: @escaping @Sendable (SearchProgress) -> Void
        ) async throws -> [FoundCameraDocument]

    /// Checks what is asked for, and makes a search of it that has not begun. Throws `CodedError`.
    var search: @Sendable (DiscoveryRequest) throws -> Search
    /// Tries everything from the first packet to the first key frame.
    var test:
        @Sendable (
            CameraTestRequest, _ progress: @escaping @Sendable (StreamTestReport) -> Void
        ) async -> StreamTestReport
    /// Looks for devices that are known, wherever they are now: for some seconds, and without a login.
    ///
    /// - Parameter near: last addresses of those whose MAC address is known.
    var sightings: @Sendable (_ near: [String]) async -> [Sighting]
    /// What the device at an address reports of itself without a login; nil for nothing.
    var identity: @Sendable (_ address: String) async -> DeviceIdentity?
    /// Until its reader ends.
    var announcements: @Sendable () -> AsyncStream<Announcement>
}

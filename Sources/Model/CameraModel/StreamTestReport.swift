public import ErrorCatalog

/// What the test of a network camera found, step by step.
public struct StreamTestReport: Codable, Equatable, Sendable {
    /// In this order.
    public enum Step: String, Codable, Sendable, CaseIterable {
        /// Something answers at address and port.
        case reach
        /// The camera's clock (ONVIF); skipped for `rtsp://`.
        case clock
        case login
        /// What it offers (DESCRIBE).
        case describe
        /// The first frame that a viewer can begin with.
        case keyFrame = "key-frame"
    }

    public enum Outcome: String, Codable, Sendable, CaseIterable {
        case ok
        case warning
        case failed
        case skipped
    }

    public struct Line: Codable, Equatable, Sendable {
        public var step: Step
        public var outcome: Outcome
        /// What this step took.
        public var milliseconds: Double
        /// The result, for a person: what was found, or what happened and why.
        public var text: String
        /// Of a failure or a warning that has one.
        public var code: ErrorCode?
        /// What to do next.
        public var hint: String?

        public init(
            step: Step, outcome: Outcome, milliseconds: Double, text: String, code: ErrorCode? = nil,
            hint: String? = nil
        ) {
            self.step = step
            self.outcome = outcome
            self.milliseconds = milliseconds
            self.text = text
            self.code = code
            self.hint = hint
        }
    }

    /// Of what was tested: without user and password.
    public var url: String
    /// Of the steps that are done.
    public var lines: [Line] = []
    /// A frame came: the camera can be published with these settings.
    public var isUsable = false
    public var isDone = false
    /// Of the stream that was tried; without user and password.
    public var streamURL: String?
    public var address: String?
    public var port: Int?
    /// As `NetworkStatistics.authentication`.
    public var authentication: String?
    /// As `CameraConfiguration.Network.pin`; of the certificate that was shown.
    public var pin: String?
    public var server: String?
    public var videoCodec: String?
    public var audioCodec: String?
    public var width: Int?
    public var height: Int?
    /// Frames per second, as the stream says.
    public var rate: Double?
    /// Of an ONVIF camera.
    public var device: NetworkStatistics.Device?

    public init(url: String) {
        self.url = url
    }
}

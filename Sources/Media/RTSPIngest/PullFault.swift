internal import ErrorCatalog
internal import HTTPClient
internal import HTTPVideo
internal import ONVIF
internal import ONVIFClient
internal import RTSP

/// Why an attempt ended: what to say, and what to do about it.
struct PullFault: Error, Equatable, Sendable {
    var code: ErrorCode
    /// What happened and why, without a full stop.
    var what: String
    /// What a person can do.
    var hint: String
    var ending: PullSupervision.Ending
    /// Another transport may work.
    var isTransport = false
    /// The camera, or its stream, may be at another place than is known.
    var mayHaveMoved = false
    /// Follow it on a new connection.
    var redirect: RTSPURL?

    init(
        _ code: ErrorCode, _ what: String, hint: String? = nil, ending: PullSupervision.Ending = .broken,
        isTransport: Bool = false, mayHaveMoved: Bool = false, redirect: RTSPURL? = nil
    ) {
        self.code = code
        self.what = what
        self.hint = hint ?? code.entry?.hint ?? "Run: watchboxctl camera test ID"
        self.ending = ending
        self.isTransport = isTransport
        self.mayHaveMoved = mayHaveMoved
        self.redirect = redirect
    }

    /// Ends nothing: it is reported while the next key frame is waited for.
    static let longGroup = PullFault(
        .noKeyFrame, "the camera's frames come, and a key frame to begin with is waited for: they are far apart")

    /// For the status; commands name the camera.
    func message(for camera: String) -> String {
        let words = hint.split(separator: " ", omittingEmptySubsequences: false).map { word in
            word == "ID" ? Substring(camera) : word == "ID," ? "\(camera)," : word
        }
        return "\(what). \(words.joined(separator: " "))"
    }
}

extension PullFault {
    init(_ failure: RTSPFailure) {
        let what = "\(failure)"
        switch failure {
        case .loginNeeded: self.init(.loginNeeded, what, ending: .person)
        case .loginRefused, .closedAtLogin: self.init(.loginRefused, what, ending: .loginRefused)
        case .loginUnsupported, .basicNotAllowed: self.init(.loginUnsupported, what, ending: .person)
        case .forbidden: self.init(.accessForbidden, what, ending: .unready)
        case .noSuchStream: self.init(.noSuchStream, what, mayHaveMoved: true)
        case .busy(_, let seconds): self.init(.cameraBusy, what, ending: .busy(seconds: seconds))
        case .transportRefused: self.init(.transportRefused, what, isTransport: true)
        case .noSupportedMedia: self.init(.unsupportedCodec, what, ending: .unready)
        case .encryptedMedia:
            // Switched off in the camera, it comes by itself.
            self.init(
                .unsupportedCodec, what,
                hint: "Take ?enableSrtp out of the address, or switch SRTP off in the camera; rtsps:// encrypts as well"
            )
        case .redirectElsewhere: self.init(.streamRedirected, what, mayHaveMoved: true)
        case .refused, .malformed, .tooLong: self.init(.cameraProtocol, what)
        case .notRTSP: self.init(.notRTSP, what, mayHaveMoved: true)
        case .timeout: self.init(.cameraTimeout, what, mayHaveMoved: true)
        case .closed: self.init(.cameraUnreachable, what, ending: .away, mayHaveMoved: true)
        }
    }

    /// - Parameter isLive: frames came before.
    init(_ failure: HTTPVideoFailure, isLive: Bool) {
        let what = "\(failure)"
        switch failure {
        case .session(.timeout) where isLive:
            self.init(.streamFrozen, "the camera did not send the next frame in time", ending: .stalled)
        case .session(let failure): self.init(failure)
        case .notHTTP:
            self.init(
                .notRTSP, what, hint: "Check address and port; cameras with RTSP are added as rtsp://",
                mayHaveMoved: true)
        case .noFrames(_, true):
            self.init(
                .notRTSP, what,
                hint: "Use the address of the images themselves, such as http://ADDRESS:81/stream of an ESP32-CAM; "
                    + "of a camera with ONVIF give its address: --source onvif://ADDRESS")
        case .noFrames(_, false):
            self.init(
                .unsupportedCodec, what, hint: "Use an address of the camera's that sends MJPEG or a JPEG image",
                ending: .unready)
        case .tooManyRedirects:
            self.init(
                .streamRedirected, what,
                hint: "Open the address in a browser, and give the one where the images are: "
                    + "watchboxctl camera edit ID --source URL")
        }
    }

    init(_ error: HTTPClientError) {
        let what = "\(error)"
        guard !error.isPinMismatch else {
            self.init(.certificateChanged, what, ending: .person, mayHaveMoved: true)
            return
        }
        switch error {
        case .unreachable, .connectTimedOut, .connectionLost:
            self.init(.cameraUnreachable, what, ending: .away, mayHaveMoved: true)
        case .timedOut: self.init(.cameraTimeout, what, mayHaveMoved: true)
        case .tlsFailed: self.init(.cameraCertificate, what, mayHaveMoved: true)
        case .invalidURL, .plainHTTPRefused, .invalidHeader, .malformedResponse, .responseTooLarge, .cancelled,
            .tooManyRequests, .unavailable:
            self.init(.cameraProtocol, what, hint: error.hint)
        }
    }

    init(_ error: ONVIFError) {
        let what = "\(error)"
        switch error {
        case .unreachable: self.init(.cameraUnreachable, what, ending: .away, mayHaveMoved: true)
        case .timedOut: self.init(.cameraTimeout, what, mayHaveMoved: true)
        case .notONVIF:
            self.init(
                .cameraProtocol, what,
                hint: "Switch ONVIF on in the camera, or use the rtsp:// address of its stream", mayHaveMoved: true)
        case .loginNeeded: self.init(.loginNeeded, what, ending: .person)
        case .loginRefused:
            self.init(
                .loginRefused, what,
                hint: "Many cameras keep ONVIF users apart from others: create one there. "
                    + "Then run: watchboxctl camera password ID",
                ending: .loginRefused)
        case .forbidden: self.init(.accessForbidden, what, ending: .unready)
        case .notSupported, .fault, .invalidRequest: self.init(.cameraRefuses, what)
        case .malformed, .cancelled, .unavailable: self.init(.cameraProtocol, what)
        case .certificateChanged: self.init(.certificateChanged, what, ending: .person, mayHaveMoved: true)
        case .certificate: self.init(.cameraCertificate, what, mayHaveMoved: true)
        }
    }

    init(_ finding: FreezeWatch.Finding, hasAudio: Bool) {
        switch finding {
        case .silent:
            self.init(
                hasAudio ? .noKeyFrame : .streamFrozen,
                "the camera began its stream, and no \(hasAudio ? "frame, only audio," : "packet") came within "
                    + "\(FreezeWatch.usualGroup / 1_000_000_000) s", ending: .stalled)
        case .noKeyFrame(let seconds):
            self.init(
                .noKeyFrame,
                "the stream runs, and no frame that a viewer can begin with came within \(seconds) s",
                ending: .stalled)
        case .frozen:
            self.init(.streamFrozen, "the camera's frames stopped though its connection is open", ending: .stalled)
        }
    }
}

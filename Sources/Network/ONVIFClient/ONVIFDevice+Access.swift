public import HTTPClient
public import ONVIF
public import Wire

extension ONVIFDevice {
    /// Where a device is, and how to be let in.
    public struct Access: Sendable {
        /// Of its device service: `http://host[:port]/onvif/device_service`, or https.
        public var url: String
        public var user: String?
        public var password: String?
        /// Send the password readable (PasswordText, HTTP Basic) when the device takes nothing else.
        public var allowsPlainPassword: Bool
        /// Of https. With `.firstUse`, the first answer's pin is held to for as long as this device object lives, and
        /// no login is sent before it is known.
        public var trust: HTTPTrust
        /// Learned at another time: which clock's time the device accepts (`LearnedFacts.clock`), or where to go on
        /// after refusals (`LearnedFacts.nextClock`). Tried first, and the others from it on.
        public var clock: ClockCandidate?
        /// Logins that are shown in one round, 1 or more.
        public var maxLogins = LoginDialogue.maxLogins

        public init(
            url: String, user: String? = nil, password: String? = nil, allowsPlainPassword: Bool = false,
            trust: HTTPTrust = .firstUse, clock: ClockCandidate? = nil
        ) {
            self.url = url
            self.user = user
            self.password = password
            self.allowsPlainPassword = allowsPlainPassword
            self.trust = trust
            self.clock = clock
        }
    }

    /// What was found out about a device while it was asked, worth being kept for the next time.
    public struct LearnedFacts: Equatable, Sendable {
        /// Whose time was accepted with a WS-UsernameToken; nil while none was.
        public var clock: ClockCandidate?
        /// The device's clock minus this box's, by that candidate, or by the first there is; nil before it was read.
        public var clockOffsetMilliseconds: Int64?
        /// Nil while no call was let in.
        public var scheme: LoginScheme?
        /// `sha256//…` of the certificate's public key; nil without TLS.
        public var pin: String?
        /// Of the device service: as given, or https where nothing else is spoken.
        public var url = ""
        /// Where to go on when the device refused as many logins as are shown at once: `Access.clock` of the next
        /// attempt.
        public var nextClock: ClockCandidate?
        /// The IP address that answered.
        public var address: String?

        public init() {}
    }
}

extension ONVIFDevice.Access: Concealed {
    /// Without the password.
    public var description: String { "\(DeviceURL.shown(url)), user \(user ?? "none")" }
}

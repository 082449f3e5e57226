internal import KeyAccessClient

/// The box's device key, as far as it is not a secret: `device.json` in control's state directory. The private halves
/// are secrets of the scope `box`, which no camera is given.
struct BoxDevice: Codable, Equatable, Sendable {
    /// Secrets that stay with control, whatever a configuration names.
    static let secretName = "device-key"
    static let nextSecretName = "device-key-next"
    static let secretNames: Set<String> = [secretName, nextSecretName]
    /// Begins the names of the keys that cameras are given.
    static let cameraPrefix = "signing-"

    var schema = "watchbox.device-state/1"
    /// SubjectPublicKeyInfo PEM of the key that vouches for the cameras'.
    var current: String
    /// The one that takes over with `device switch`.
    var next: String?

    /// Of the secret with which a camera signs this stream: it names key and stream, so that one that is there is the
    /// right one.
    func secretName(forStream stream: String) -> String {
        Self.cameraPrefix + SigningIdentity.tag(publicKeyPEM: current, stream: stream)
    }
}

/// What control holds of device keys besides the store, which only systemd may open.
struct HeldDevice {
    var device: BoxDevice?
    /// By the name of their secrets.
    var identities: [String: SigningIdentity] = [:]
    /// Of `CLOCK_BOOTTIME`: the next look at what cameras lack.
    var dueAt = Duration.zero
    var task: Task<Void, Never>?
    /// A change of the keys is under way.
    var isChanging = false
}

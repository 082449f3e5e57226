internal import KeyAccessClient

/// What control holds of tokens besides the store, which only systemd may open.
struct HeldTokens {
    /// The box's, by the name of its secret.
    var box: [String: String] = [:]
    /// What the narrowed tokens say that cameras have, by the camera's ID.
    var cameras: [String: AccessTokenFacts] = [:]
    /// Identifier of the token that each camera's process was given last, by the camera's ID.
    var sent: [String: String] = [:]
    /// Changes with each token that an owner sets: what was under way for an older one is dropped.
    var version = 0
    var care = TokenCare()
    var task: Task<Void, Never>?
}

public import ONVIF

/// What a device's clock says.
public struct CameraClock: Equatable, Sendable {
    /// Whose reading this is: the accepted one, or the first there is while none was accepted.
    public var candidate: ClockCandidate
    /// The device accepted a login with this time.
    public var isProven: Bool
    /// The device's clock minus this box's.
    public var offsetMilliseconds: Int64
    /// The device's time zone as it writes it; nil when it did not say.
    public var zone: String?
}

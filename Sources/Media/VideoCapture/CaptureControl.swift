/// One thing that can be set at a camera.
public struct CaptureControl: Equatable, Sendable {
    public enum Kind: String, Equatable, Sendable, CaseIterable {
        case integer, boolean, menu
        /// Set to any value to make it happen.
        case button
        /// A menu whose items are numbers.
        case integerMenu = "integer menu"
        case bitmask
        /// Shown, not set here: strings, arrays.
        case other
    }

    /// "brightness": the driver's name in lower case, with underscores, as v4l2-ctl has it.
    public var name: String
    /// V4L2_CID_…
    public var id: UInt32
    public var kind: Kind
    public var minimum: Int
    public var maximum: Int
    public var step: Int
    public var `default`: Int
    /// Nil when it cannot be read.
    public var value: Int?
    /// Of a menu: value → what it means.
    public var menu: [Int: String]
    public var isReadOnly: Bool
    /// Without effect now, because another control rules it: exposure while exposure is automatic.
    public var isInactive: Bool

    public init(
        name: String, id: UInt32, kind: Kind, minimum: Int, maximum: Int, step: Int, default: Int, value: Int?,
        menu: [Int: String] = [:], isReadOnly: Bool = false, isInactive: Bool = false
    ) {
        self.name = name
        self.id = id
        self.kind = kind
        self.minimum = minimum
        self.maximum = maximum
        self.step = step
        self.default = `default`
        self.value = value
        self.menu = menu
        self.isReadOnly = isReadOnly
        self.isInactive = isInactive
    }
}

public import NanoTDF

extension StreamSealer {
    public struct Options: Equatable, Sendable {
        public var rotation: RotationPolicy
        /// Repeats the header frame before each key frame that begins no collection.
        public var repeatsHeader: Bool
        /// Each video item goes out in the shape of a NAL unit (`NALWrapper`).
        public var wrapsItems: Bool
        /// The longest media message, clear prefix and item together; 24 bits at most. Longer units are refused and
        /// counted. `standardMessageLimit` unless a relay takes less: what is above it no viewer opens.
        public var messageLimit: Int
        /// kbit/s, for the metadata; nil when unknown.
        public var videoDataRate: Double?
        public var audioDataRate: Double?

        /// 4 MiB. Viewers accept items up to that size (`StreamOpener`), of IV, length, ciphertext and tag: 22 bytes
        /// more than the unit has. With the clear prefix counted in, the item is always within it, and the message far
        /// within the 8 MiB that relays accept (`ChunkLimits`).
        public static let standardMessageLimit = 4 << 20

        public init(
            rotation: RotationPolicy = RotationPolicy(), repeatsHeader: Bool = false, wrapsItems: Bool = false,
            messageLimit: Int = Self.standardMessageLimit, videoDataRate: Double? = nil,
            audioDataRate: Double? = nil
        ) {
            self.rotation = rotation
            self.repeatsHeader = repeatsHeader
            self.wrapsItems = wrapsItems
            self.messageLimit = min(messageLimit, 0xFF_FFFF)
            self.videoDataRate = videoDataRate
            self.audioDataRate = audioDataRate
        }
    }
}

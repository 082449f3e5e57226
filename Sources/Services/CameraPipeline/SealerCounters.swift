extension StreamSealer {
    public struct Counters: Equatable, Sendable {
        public struct Medium: Equatable, Sendable {
            public var sealed: UInt64 = 0
            public var dropped: UInt64 = 0
            /// Above `Options.messageLimit`.
            public var refused: UInt64 = 0
            /// Of media, of sealed units.
            public var bytes: UInt64 = 0
        }
        public var video = Medium()
        public var audio = Medium()
        /// Bytes that went out besides the media's own.
        public var overheadBytes: UInt64 = 0
        public var collections: UInt64 = 0
        public var rotations: UInt64 = 0
        /// Rotations that were due and had no collection.
        public var rotationsDeferred: UInt64 = 0
        public var keyFrameRequests: UInt64 = 0
    }
}

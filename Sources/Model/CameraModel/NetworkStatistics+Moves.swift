extension NetworkStatistics {
    /// Where a device is that may be this camera. None of it is proven: anyone on the camera's network can claim
    /// it.
    public struct Move: Codable, Equatable, Sendable {
        /// What is the same, the surest first.
        public enum Evidence: String, Codable, Sendable, CaseIterable {
            /// WS-Discovery's endpoint reference.
            case endpoint
            case serial
            case mac

            /// `the same serial number`
            public var text: String {
                switch self {
                case .endpoint: "the same endpoint reference"
                case .serial: "the same serial number"
                case .mac: "the same MAC address"
                }
            }
        }

        /// IP address, without brackets.
        public var address: String
        /// What the camera's source is once a person accepts the move.
        public var source: String
        public var evidence: Evidence
        /// The camera's key is known, and has not been seen there; nil: it has, or there is none.
        public var lacksKey: Bool?

        public init(address: String, source: String, evidence: Evidence, lacksKey: Bool? = nil) {
            self.address = address
            self.source = source
            self.evidence = evidence
            self.lacksKey = lacksKey
        }

        /// What a person is shown and accepts: all that changes. An `onvif://` source as a whole; of others only the
        /// address does, and their path may have a password in it.
        public var place: String { source.lowercased().hasPrefix("onvif:") ? source : address }

        /// For a person, without a full stop: where the camera seems to be, and how to accept just that.
        ///
        /// - Parameter camera: its ID.
        public static func message(_ moves: [Move], camera: String) -> String? {
            guard let first = moves.first else { return nil }
            let places = moves.map { move in
                "\(move.place) (\(move.evidence.text)\(move.lacksKey == true ? ", but it does not show its key" : ""))"
            }.joined(separator: " or ")
            let which = moves.count == 1 ? "If so" : "If you know where"
            return
                "\(camera) seems to have moved to \(places). \(which): watchboxctl camera edit \(camera) --accept-move "
                + (moves.count == 1 ? first.place : "ADDRESS")
        }
    }

    /// Of one camera at a time.
    public static let maxMoves = 4
}

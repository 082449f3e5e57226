/// An access policy: `{"uuid":…,"body":{"dataAttributes":[…],"dissem":[…]}}`.
public struct AccessPolicy: Codable, Equatable, Sendable {
    public struct Body: Codable, Equatable, Sendable {
        /// Fully qualified names; a reader must be granted each of them.
        public var dataAttributes: [Attribute]
        /// Subjects who may read; empty means everyone.
        public var dissem: [String]

        public init(dataAttributes: [Attribute], dissem: [String]) {
            self.dataAttributes = dataAttributes
            self.dissem = dissem
        }

        private enum CodingKeys: String, CodingKey {
            case dataAttributes, dissem
        }

        /// A missing or null list is an empty one, as Go writes it. A list of another form is refused: reading it as
        /// empty would open the policy.
        public init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: CodingKeys.self)
            dataAttributes = try container.decodeIfPresent([Attribute].self, forKey: .dataAttributes) ?? []
            dissem = try container.decodeIfPresent([String].self, forKey: .dissem) ?? []
        }
    }

    /// An attribute as a bare name or as OpenTDF's object with further members.
    public struct Attribute: Codable, Equatable, Sendable {
        public var name: String

        public init(_ name: String) {
            self.name = name
        }

        private enum CodingKeys: String, CodingKey {
            case name = "attribute"
        }

        public init(from decoder: any Decoder) throws {
            if let text = try? decoder.singleValueContainer().decode(String.self) {
                self.init(text)
                return
            }
            self.init(try decoder.container(keyedBy: CodingKeys.self).decode(String.self, forKey: .name))
        }

        public func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(name, forKey: .name)
        }
    }

    public var uuid: String
    /// The stream that the data belong to, as WatchBox's publishers name it; nil in other publishers' policies.
    public var stream: String?
    public var body: Body

    public init(uuid: String, stream: String? = nil, body: Body) {
        self.uuid = uuid
        self.stream = stream
        self.body = body
    }
}

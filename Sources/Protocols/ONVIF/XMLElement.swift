/// One element of a namespace-aware XML document, without what is never read: comments, processing instructions, prefixes.
public struct XMLElement: Equatable, Sendable {
    /// Namespace URI; empty for none.
    public var namespace: String
    /// Without a prefix.
    public var name: String
    public var attributes: [Attribute]
    public var children: [XMLElement]
    /// Its own character data, in order, without that of its children; not trimmed.
    public var text: String

    public struct Attribute: Equatable, Sendable {
        /// Namespace URI; empty for none.
        public var namespace: String
        public var name: String
        public var value: String

        public init(namespace: String = "", name: String, value: String) {
            self.namespace = namespace
            self.name = name
            self.value = value
        }
    }

    public init(
        namespace: String = "", name: String, attributes: [Attribute] = [], children: [XMLElement] = [],
        text: String = ""
    ) {
        self.namespace = namespace
        self.name = name
        self.attributes = attributes
        self.children = children
        self.text = text
    }
}

/// Devices disagree about namespaces, seldom about names: what an element is called decides, wherever that cannot be
/// mistaken for something else.
extension XMLElement {
    /// The first child of this name, in any namespace.
    public func child(_ name: String) -> XMLElement? {
        children.first { $0.name == name }
    }

    public func children(named name: String) -> [XMLElement] {
        children.filter { $0.name == name }
    }

    /// Child, grandchild and so on, each the first of its name.
    public func descendant(_ path: String...) -> XMLElement? {
        var element = self
        for name in path {
            guard let next = element.child(name) else { return nil }
            element = next
        }
        return element
    }

    /// `text` without white space at both ends; nil when nothing else is there.
    public var trimmedText: String? {
        let trimmed = text.trimmingSpaces
        return trimmed.isEmpty ? nil : trimmed
    }

    /// The trimmed text of what stands at this path.
    public func text(_ path: String...) -> String? {
        var element = self
        for name in path {
            guard let next = element.child(name) else { return nil }
            element = next
        }
        return element.trimmedText
    }

    /// The first attribute of this name, in any namespace; trimmed, nil when empty.
    public func attribute(_ name: String) -> String? {
        guard let value = attributes.first(where: { $0.name == name })?.value.trimmingSpaces else { return nil }
        return value.isEmpty ? nil : value
    }
}

extension StringProtocol {
    /// Without ASCII white space at both ends.
    var trimmingSpaces: String {
        let isSpace: (UInt8) -> Bool = { $0 == 0x20 || (0x09...0x0D).contains($0) }
        let bytes = Array(utf8)
        guard let first = bytes.firstIndex(where: { !isSpace($0) }), let last = bytes.lastIndex(where: { !isSpace($0) })
        else { return "" }
        return String(decoding: bytes[first...last], as: UTF8.self)
    }
}

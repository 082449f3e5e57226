extension XMLElement {
    /// The element as it stands inside an envelope of ours: on one line, with the prefixes that the envelope declares, and
    /// with declarations of its own for every other namespace.
    var envelopeText: String {
        var result = ""
        write(to: &result, defaultNamespace: "")
        return result
    }

    private func write(to result: inout String, defaultNamespace: String) {
        var inner = defaultNamespace
        var head = name
        var declarations = ""
        if let prefix = ONVIFNames.prefix(of: namespace) {
            head = "\(prefix):\(name)"
        } else if namespace != defaultNamespace {
            inner = namespace
            declarations = " xmlns=\"\(XMLText.escaped(namespace))\""
        }
        for (index, attribute) in attributes.enumerated() {
            let value = XMLText.escaped(attribute.value)
            if attribute.namespace.isEmpty {
                declarations += " \(attribute.name)=\"\(value)\""
            } else if attribute.namespace == "http://www.w3.org/XML/1998/namespace" {
                declarations += " xml:\(attribute.name)=\"\(value)\""
            } else if let prefix = ONVIFNames.prefix(of: attribute.namespace) {
                declarations += " \(prefix):\(attribute.name)=\"\(value)\""
            } else {
                let uri = XMLText.escaped(attribute.namespace)
                declarations += " xmlns:n\(index)=\"\(uri)\" n\(index):\(attribute.name)=\"\(value)\""
            }
        }
        result += "<\(head)\(declarations)"
        let content = trimmedText ?? ""
        guard !children.isEmpty || !content.isEmpty else {
            result += "/>"
            return
        }
        result += ">" + XMLText.escaped(content)
        for child in children { child.write(to: &result, defaultNamespace: inner) }
        result += "</\(head)>"
    }
}

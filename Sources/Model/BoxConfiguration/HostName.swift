/// What the box is called in its network (RFC 1123 §2.1).
public enum HostName {
    /// Of a box's name, which is for people: letters and digits in lower case, and hyphens for what is between them.
    ///
    /// - Parameter suffix: what tells this box from others when the name gives no host name: `watchbox-SUFFIX`.
    public static func derived(from name: String, suffix: String) -> String {
        var text = ""
        var isBetween = false
        for scalar in name.unicodeScalars {
            guard let letters = letters(scalar) else {
                isBetween = !text.isEmpty
                continue
            }
            if isBetween { text += "-" }
            isBetween = false
            text += letters
        }
        let label = String(text.prefix(63).reversed().drop { $0 == "-" }.reversed())
        // What consists of digits is taken for a part of an address.
        guard !label.isEmpty, label != "localhost", !label.allSatisfy(\.isNumber) else {
            return label.isEmpty || label == "localhost" || label.utf8.count > 50
                ? "watchbox-\(suffix)" : "watchbox-\(label)"
        }
        return label
    }

    private static func letters(_ scalar: Unicode.Scalar) -> String? {
        switch scalar {
        case "a"..."z", "0"..."9": String(scalar)
        case "A"..."Z": String(scalar).lowercased()
        case "ä", "Ä", "æ", "Æ": "ae"
        case "ö", "Ö", "ø", "Ø": "oe"
        case "ü", "Ü": "ue"
        case "ß": "ss"
        case "à"..."å", "À"..."Å": "a"
        case "ç", "Ç": "c"
        case "è"..."ë", "È"..."Ë": "e"
        case "ì"..."ï", "Ì"..."Ï": "i"
        case "ñ", "Ñ": "n"
        case "ò"..."õ", "Ò"..."Õ": "o"
        case "ù"..."û", "Ù"..."Û": "u"
        // What stands above the letter before it, where the text has its letters in two parts.
        case _ where scalar.properties.generalCategory == .nonspacingMark: ""
        default: nil
        }
    }
}

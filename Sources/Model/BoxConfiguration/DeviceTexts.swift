internal import CameraModel

// Lists of a camera's settings whose entries say more than one thing.

extension CameraConfiguration.Device.Mask {
    /// `0,0,0.25,0.1`: left, top, width and height, as parts of the image. Nil: is not one.
    init?(text: String) {
        let parts = text.split(separator: ",", omittingEmptySubsequences: false)
        guard parts.count == 4, text.utf8.count <= KeyDefinition.Kind.maskLength else { return nil }
        var numbers: [Double] = []
        for part in parts {
            var digits = part
            while digits.first == " " { digits.removeFirst() }
            // "nan" and "inf" are numbers to Swift, and 0x1p4 is.
            guard digits.utf8.allSatisfy({ (0x30...0x39).contains($0) || ".e-".utf8.contains($0) }),
                let number = Double(String(digits))
            else { return nil }
            numbers.append(number)
        }
        self.init(x: numbers[0], y: numbers[1], width: numbers[2], height: numbers[3])
        guard isInsideImage else { return nil }
    }

    var text: String { [x, y, width, height].map(\.plain).joined(separator: ",") }
}

/// `brightness=128`
struct ControlSetting: Equatable {
    var name: String
    var value: Int
}

extension ControlSetting: SettingText {
    init?(text: String) {
        guard text.utf8.count <= KeyDefinition.Kind.controlLength, let equals = text.firstIndex(of: "=") else {
            return nil
        }
        let name = String(text[..<equals])
        let digits = text[text.index(after: equals)...]
        guard CameraConfiguration.Device.isControlName(name), digits.first != "+", let value = Int(digits) else {
            return nil
        }
        self.init(name: name, value: value)
    }

    var text: String { "\(name)=\(value)" }
}

/// What is burnt into a frame.
enum OverlayPart: String, CaseIterable, SettingText {
    case time, name
}

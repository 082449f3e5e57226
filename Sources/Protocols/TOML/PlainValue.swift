/// Values without quotes and brackets: numbers, dates, times, `true` and `false`.
struct PlainValue {
    private let bytes: ArraySlice<UInt8>
    private let position: TOMLPosition
    private var index: Int

    static func read(_ cursor: inout Cursor) throws(TOMLError) -> TOMLValue {
        let position = cursor.position
        let begin = cursor.index
        while cursor.next?.isPart == true { cursor.advance() }
        // `1979-05-27 07:32:00`: one blank may stand for the T.
        let isDate = cursor.index - begin == 10 && cursor.bytes[begin + 4] == .hyphen
        if isDate, cursor.next == .space, cursor.peek(1)?.isDigit == true {
            cursor.advance()
            while cursor.next?.isPart == true { cursor.advance() }
        }
        let value = PlainValue(bytes: cursor.bytes[begin..<cursor.index], position: position, index: begin)
        return try value.read()
    }

    private func read() throws(TOMLError) -> TOMLValue {
        if bytes.isEmpty { throw fault(.valueMissing) }
        if bytes.elementsEqual("true".utf8) { return .boolean(true) }
        if bytes.elementsEqual("false".utf8) { return .boolean(false) }
        var value = self
        if let value = try value.dateTime() { return value }
        value = self
        if let time = try value.time(), value.isAtEnd { return .localTime(time) }
        value = self
        if let integer = try value.prefixedInteger() { return .integer(integer) }
        value = self
        if let number = try value.number() { return number }
        throw fault(.noValue)
    }

    private func fault(_ reason: TOMLError.Reason) -> TOMLError { TOMLError(position: position, reason: reason) }

    private var next: UInt8? { index < bytes.endIndex ? bytes[index] : nil }

    private var isAtEnd: Bool { index == bytes.endIndex }

    /// Takes the next byte when it is one of these.
    private mutating func take(_ characters: String) -> Bool {
        guard let next, characters.utf8.contains(next) else { return false }
        index += 1
        return true
    }

    // MARK: Dates and times (RFC 3339)

    /// A date alone, or with a time, or with a time and an offset.
    private mutating func dateTime() throws(TOMLError) -> TOMLValue? {
        guard let year = digits(4), take("-"), let month = digits(2), take("-"), let day = digits(2) else { return nil }
        let date = TOMLDate(year: year, month: month, day: day)
        if isAtEnd {
            guard let date else { throw fault(.noSuchTime) }
            return .localDate(date)
        }
        guard take("Tt "), let time = try time() else { return nil }
        guard !isAtEnd else {
            guard let date else { throw fault(.noSuchTime) }
            return .localDateTime(date, time)
        }
        var offset = 0
        if !take("Zz") {
            let sign = next == .hyphen ? -1 : 1
            guard take("+-"), let hours = digits(2), take(":"), let minutes = digits(2) else { return nil }
            guard hours < 24, minutes < 60 else { throw fault(.noSuchTime) }
            offset = sign * (hours * 60 + minutes)
        }
        guard isAtEnd else { return nil }
        guard let date else { throw fault(.noSuchTime) }
        return .offsetDateTime(date, time, offset: offset)
    }

    private mutating func time() throws(TOMLError) -> TOMLTime? {
        guard let hour = digits(2), take(":"), let minute = digits(2), take(":"), let second = digits(2) else {
            return nil
        }
        var nanosecond = 0
        if take(".") {
            var unit = 100_000_000
            guard next?.isDigit == true else { return nil }
            // Digits beyond the ninth are cut off, as TOML wants it.
            while let digit = digits(1) {
                nanosecond += digit * unit
                unit /= 10
            }
        }
        guard let time = TOMLTime(hour: hour, minute: minute, second: second, nanosecond: nanosecond) else {
            throw fault(.noSuchTime)
        }
        return time
    }

    private mutating func digits(_ count: Int) -> Int? {
        var number = 0
        for _ in 0..<count {
            guard let next, next.isDigit else { return nil }
            number = number * 10 + Int(next - UInt8(ascii: "0"))
            index += 1
        }
        return number
    }

    // MARK: Numbers

    private mutating func prefixedInteger() throws(TOMLError) -> Int64? {
        guard take("0") else { return nil }
        let radix: UInt8
        if take("x") { radix = 16 } else if take("o") { radix = 8 } else if take("b") { radix = 2 } else { return nil }
        var text: [UInt8] = []
        guard grouped(radix: radix, &text), isAtEnd else { return nil }
        guard let number = Int64(String(decoding: text, as: UTF8.self), radix: Int(radix)) else {
            throw fault(.numberOutOfRange)
        }
        return number
    }

    private mutating func number() throws(TOMLError) -> TOMLValue? {
        var text: [UInt8] = []
        if let sign = next, take("+-"), sign == .hyphen { text.append(sign) }
        if bytes[index...].elementsEqual("inf".utf8) { return .float(text.isEmpty ? .infinity : -.infinity) }
        if bytes[index...].elementsEqual("nan".utf8) { return .float(.nan) }
        let first = index
        guard grouped(radix: 10, &text), bytes[first] != UInt8(ascii: "0") || index == first + 1 else { return nil }
        if isAtEnd {
            guard let number = Int64(String(decoding: text, as: UTF8.self)) else { throw fault(.numberOutOfRange) }
            return .integer(number)
        }
        if take(".") {
            text.append(.dot)
            guard grouped(radix: 10, &text) else { return nil }
        }
        if take("eE") {
            text.append(UInt8(ascii: "e"))
            if let sign = next, take("+-"), sign == .hyphen { text.append(sign) }
            guard grouped(radix: 10, &text) else { return nil }
        }
        guard isAtEnd else { return nil }
        guard let number = Double(String(decoding: text, as: UTF8.self)), number.isFinite else {
            throw fault(.numberOutOfRange)
        }
        return .float(number)
    }

    /// `1_000`: at least one digit, underscores only between two.
    private mutating func grouped(radix: UInt8, _ text: inout [UInt8]) -> Bool {
        var mayBreak = false
        while let byte = next {
            if byte == .underscore, mayBreak {
                mayBreak = false
            } else if let digit = byte.hexadecimal, digit < radix {
                text.append(byte)
                mayBreak = true
            } else {
                break
            }
            index += 1
        }
        return mayBreak
    }
}

extension UInt8 {
    fileprivate var isPart: Bool { isBareKey || self == .dot || self == .plus || self == .colon }
}

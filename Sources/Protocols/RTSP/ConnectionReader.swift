/// Takes a connection's bytes apart into messages and interleaved frames (RFC 2326 §10.12).
///
/// Frames that lie whole in what was read are slices of it; only what a read cut is joined. What is neither message nor
/// frame (live555 of old lets such bytes slip in) is skipped up to the next place that looks like one.
struct ConnectionReader: Sendable {
    enum Item: Equatable, Sendable {
        case frame(channel: UInt8, ArraySlice<UInt8>)
        case message(RTSPMessage)
    }

    /// Bytes that may be skipped in one go.
    static let maxJunkLength = 64 << 10
    private static let dollar = UInt8(ascii: "$")

    /// Which medium a channel belongs to: `2 × media + (1 for RTCP)`, −1 for none.
    private(set) var owners = [Int16](repeating: -1, count: 256)
    /// Bytes of this connection that are done with.
    private(set) var position = 0
    private(set) var discarded: UInt64 = 0
    /// A whole message came: the peer speaks RTSP.
    private(set) var hasMessage = false
    private var pending: [UInt8] = []
    /// `pending` is not worth looking at before it holds so many bytes.
    private var awaited = 0
    private var isSynchronized = true
    private var junk = 0

    /// Something came that is not a whole item yet.
    var isInsideItem: Bool { !pending.isEmpty }

    mutating func assign(channel: UInt8, to owner: Int16) {
        owners[Int(channel)] = owner
    }

    /// The next item; nil when all of `input` is consumed, its unfinished end kept.
    mutating func next(_ input: inout ArraySlice<UInt8>) throws(RTSPFailure) -> Item? {
        if !pending.isEmpty {
            if isSynchronized, pending[0] == Self.dollar { return fillFrame(from: &input) }
            if pending.count + input.count < awaited {
                pending += input
                input = []
                return nil
            }
            var joined = pending
            pending = []
            joined += input
            input = joined[...]
        }
        while !input.isEmpty {
            guard isSynchronized else {
                guard try synchronize(&input) else { return nil }
                continue
            }
            let first = input[input.startIndex]
            if first == Self.dollar {
                guard let frame = wholeFrame(&input) else { return nil }
                return frame
            }
            if CameraText.isBlank(first) {
                let end = input.firstIndex { !CameraText.isBlank($0) } ?? input.endIndex
                drop(end - input.startIndex, from: &input)
                continue
            }
            switch Self.beginning(of: input) {
            case .message:
                guard let message = try wholeMessage(&input) else { return nil }
                return .message(message)
            case .undecided:
                keep(&input, until: input.count + 1)
                return nil
            case .neither:
                guard hasMessage else { throw .notRTSP }
                isSynchronized = false
            }
        }
        return nil
    }

    // MARK: Frames

    private mutating func wholeFrame(_ input: inout ArraySlice<UInt8>) -> Item? {
        let start = input.startIndex
        guard input.count >= 4 else {
            keep(&input, until: 4)
            return nil
        }
        let total = 4 + (Int(input[start + 2]) << 8 | Int(input[start + 3]))
        guard input.count >= total else {
            keep(&input, until: total)
            return nil
        }
        let item = Item.frame(channel: input[start + 1], input[(start + 4)..<(start + total)])
        drop(total, from: &input)
        junk = 0
        return item
    }

    /// Only the missing bytes are copied, so that the frames behind stay slices of the input.
    private mutating func fillFrame(from input: inout ArraySlice<UInt8>) -> Item? {
        if pending.count < 4 { move(4 - pending.count, from: &input) }
        guard pending.count >= 4 else { return nil }
        let total = 4 + (Int(pending[2]) << 8 | Int(pending[3]))
        pending.reserveCapacity(total)
        move(total - pending.count, from: &input)
        guard pending.count == total else { return nil }
        let whole = pending
        pending = []
        position += total
        junk = 0
        return .frame(channel: whole[1], whole[4...])
    }

    private mutating func move(_ count: Int, from input: inout ArraySlice<UInt8>) {
        let taken = input.prefix(count)
        pending += taken
        input = input[taken.endIndex...]
    }

    // MARK: Messages

    private enum Beginning {
        case message, undecided, neither
    }

    /// `RTSP/` begins an answer, a method in capitals and a blank a request.
    private static func beginning(of input: ArraySlice<UInt8>) -> Beginning {
        var index = input.startIndex
        while index < input.endIndex {
            let byte = input[index]
            let length = index - input.startIndex
            if (0x41...0x5A).contains(byte) || byte == UInt8(ascii: "_") {
                guard length < 24 else { return .neither }
                index += 1
                continue
            }
            if byte == UInt8(ascii: "/") {
                return length == 4 && input.starts(with: [0x52, 0x54, 0x53, 0x50]) ? .message : .neither
            }
            return byte == UInt8(ascii: " ") && length >= 3 ? requestLine(input) : .neither
        }
        return .undecided
    }

    private static func requestLine(_ input: ArraySlice<UInt8>) -> Beginning {
        guard let end = input.prefix(4096).firstIndex(of: UInt8(ascii: "\n")) else {
            return input.count < 4096 ? .undecided : .neither
        }
        let words = input[input.startIndex..<end].split(separator: UInt8(ascii: " "))
        return words.count == 3 && words[2].starts(with: Array("RTSP/".utf8)) ? .message : .neither
    }

    private mutating func wholeMessage(_ input: inout ArraySlice<UInt8>) throws(RTSPFailure) -> RTSPMessage? {
        guard let headEnd = RTSPMessage.headEnd(of: input) else {
            guard input.count < RTSPMessage.maxHeadLength else {
                throw .tooLong(what: "bytes of headers", limit: RTSPMessage.maxHeadLength)
            }
            keep(&input, until: input.count + 1)
            return nil
        }
        let head = input[input.startIndex..<headEnd]
        guard head.count <= RTSPMessage.maxHeadLength else {
            throw .tooLong(what: "bytes of headers", limit: RTSPMessage.maxHeadLength)
        }
        var message = try RTSPMessage.parse(head: head, at: position)
        let total = try head.count + message.bodyLength()
        guard input.count >= total else {
            keep(&input, until: total)
            return nil
        }
        message.body = input[headEnd..<(input.startIndex + total)]
        drop(total, from: &input)
        hasMessage = true
        junk = 0
        return message
    }

    // MARK: Junk

    /// Skips to the next frame of a channel of ours or the next answer; false when that is not in `input`.
    private mutating func synchronize(_ input: inout ArraySlice<UInt8>) throws(RTSPFailure) -> Bool {
        var index = input.startIndex
        // One byte more than may be skipped is enough to know that it was too much.
        let end = min(input.endIndex, index + Self.maxJunkLength - junk + 1)
        while index < end {
            switch looksLikeItem(input[index...]) {
            case true?:
                try skip(index - input.startIndex, of: &input)
                isSynchronized = true
                return true
            case false?: index += 1
            case nil:
                try skip(index - input.startIndex, of: &input)
                keep(&input, until: input.count + 1)
                return false
            }
        }
        try skip(end - input.startIndex, of: &input)
        return false
    }

    /// Nil when there are too few bytes to tell.
    private func looksLikeItem(_ input: ArraySlice<UInt8>) -> Bool? {
        let start = input.startIndex
        guard input[start] == Self.dollar else {
            guard input[start] == UInt8(ascii: "R") else { return false }
            return RTSPRequest.isRTSPAnswer(input.prefix(5))
        }
        // A lone dollar sign is in every 256th byte of a frame: channel, length and RTP's version have to fit, too.
        guard input.count >= 2 else { return nil }
        guard owners[Int(input[start + 1])] >= 0 else { return false }
        guard input.count >= 5 else { return nil }
        let length = Int(input[start + 2]) << 8 | Int(input[start + 3])
        return length >= 8 && input[start + 4] >> 6 == 2
    }

    private mutating func skip(_ count: Int, of input: inout ArraySlice<UInt8>) throws(RTSPFailure) {
        drop(count, from: &input)
        discarded += UInt64(count)
        junk += count
        guard junk <= Self.maxJunkLength else {
            throw .malformed(position: position, reason: "neither message nor frame within \(Self.maxJunkLength) bytes")
        }
    }

    // MARK: Bytes

    private mutating func drop(_ count: Int, from input: inout ArraySlice<UInt8>) {
        input = input[(input.startIndex + count)...]
        position += count
    }

    private mutating func keep(_ input: inout ArraySlice<UInt8>, until awaited: Int) {
        // `Array(input)` would share the storage of a slice that is all of it, and whoever reads into that again would
        // copy it first.
        pending = []
        pending.reserveCapacity(input.count)
        pending += input
        self.awaited = awaited
        input = []
    }
}

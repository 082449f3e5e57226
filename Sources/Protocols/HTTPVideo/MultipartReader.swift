internal import RTSP

/// Takes JPEG images out of the parts of `multipart/x-mixed-replace`, whatever a read cuts.
///
/// A frame ends where its own segments say so (`JPEGEnd`): it is there with its last byte, not with the next boundary,
/// and a Content-Length that is wrong or missing does no harm. What is cut off is left out, and the next boundary or
/// the next frame is looked for.
///
/// What a byte costs is bounded, whatever the camera writes: lines and boundaries are looked for in it once, and a
/// frame's segments are walked at most twice.
struct MultipartReader: Sendable {
    private enum State {
        /// Before the first part, and behind each one.
        case between
        case headers
        /// - Parameter left: bytes of a part that is not a frame.
        case skipping(left: Int)
        case frame
    }

    /// As network MJPEG over RTP.
    static let maxFrameBytes = 16 << 20
    /// Its tables alone are longer. Thousands of nothing cost more to take apart than to send.
    static let minFrameBytes = 100
    static let maxHeadersLength = 8 << 10
    static let maxHeaders = 64
    /// Bytes between two frames.
    static let longestGap = 1 << 20
    /// Frames one after the other that began and did not end. Their bytes are no gap: one that is cut off costs itself,
    /// however long it is.
    static let maxBroken = 256
    /// A line that may be a boundary.
    private static let maxLineLength = 1 << 10
    /// So many frames without their end mark one after the other: this camera sends none.
    private static let maxEndless = 3
    /// So many are taken of one read; the smallest real ones are ten times as long as that makes them.
    static let maxFrames = 128
    /// Bytes that are done with stay in memory up to here, and then as long as they are fewer than the others.
    private static let maxIdle = 64 << 10
    private static let newLine = UInt8(ascii: "\n")

    private let boundary: PartBoundary
    private var state = State.between
    private var buffer: [UInt8] = []
    /// Of `buffer`: the first byte that is not done with, in front of which nothing is looked at any more.
    private var start = 0
    /// Of `buffer`: the next byte to look at, and where its line begins.
    private var index = 0
    private var lineBegin = 0
    /// The line can be a boundary.
    private var isText = true
    /// The part before was whole: any line with dashes is a boundary.
    private var isOrderly = true
    /// Bytes since the last frame, without those of broken ones.
    private var gap = 0
    /// Since the last whole frame.
    private var broken = 0
    /// Of the stream: up to where what comes may be the rest of a frame that broke.
    private var excused = 0
    /// Bytes that are done with: the place of `start` in the stream.
    private var passed = 0
    private var headers = PartHeaders()
    /// What the first part was that said it is not a frame.
    private var other: String?
    private var end = JPEGEnd()
    /// Of the frame, as its headers say, until that is found to be wrong.
    private var length: Int?
    /// Of `buffer`: up to where no boundary begins, whatever frame that is in.
    private var searched = 0
    /// Of the stream: up to where a frame reached that turned out to be none. In there no other length is believed, and
    /// nothing is tried a third time.
    private var doubted = 0
    private var endless = 0
    /// Bytes that were looked at or moved, for tests.
    private(set) var work = 0

    private var unread: Int { buffer.count - start }

    /// Frames that were cut off or are none.
    private(set) var damaged: UInt64 = 0

    /// - Parameter boundary: the parameter of Content-Type, without quotes; nil: the camera names none.
    init(boundary: String?) {
        self.boundary = PartBoundary(boundary)
    }

    /// - Returns: the frames that are whole now, in order.
    /// - Throws: `.malformed` or `.tooLong`, after which nothing more can be read.
    mutating func received(_ bytes: ArraySlice<UInt8>) throws(RTSPFailure) -> [[UInt8]] {
        buffer += bytes
        var frames: [[UInt8]] = []
        while try step(&frames) {}
        compact()
        return frames
    }

    private mutating func compact() {
        guard start >= Self.maxIdle, start >= unread else { return }
        work &+= unread
        buffer.removeFirst(start)
        index -= start
        lineBegin -= start
        searched = max(searched - start, 0)
        start = 0
    }

    /// There are no more bytes.
    ///
    /// - Returns: the last frame, where only what follows it was waited for.
    mutating func ended() -> [UInt8]? {
        guard case .frame = state, let length, length <= unread else { return nil }
        var frames: [[UInt8]] = []
        finish(at: start + length, &frames, isReported: true)
        return frames.first
    }

    /// False when more bytes are needed.
    private mutating func step(_ frames: inout [[UInt8]]) throws(RTSPFailure) -> Bool {
        switch state {
        case .between: return try passLine()
        case .headers: return try takeHeader()
        case .skipping(let left):
            let count = min(left, unread)
            guard count > 0 || left == 0 else { return false }
            try drop(to: start + count)
            state = left == count ? .between : .skipping(left: left - count)
            return true
        case .frame: return try takeFrame(&frames)
        }
    }

    // MARK: Lines

    private enum Line {
        /// Without its end.
        case whole(ArraySlice<UInt8>)
        /// Longer than any that matters, or of other bytes than text.
        case junk
        case frame
    }

    /// What comes next, `index` behind it; nil: more bytes are needed.
    private mutating func nextLine() -> Line? {
        while index < buffer.count {
            let byte = buffer[index]
            if byte == 0xFF {
                guard index + 2 < buffer.count else { return nil }
                if buffer[index + 1] == 0xD8, buffer[index + 2] == 0xFF { return .frame }
                isText = false
            }
            index += 1
            work &+= 1
            if byte == Self.newLine {
                defer { isText = true }
                return isText ? .whole(buffer[lineBegin..<(index - 1)]) : .junk
            }
            if isText, index - lineBegin > Self.maxLineLength { isText = false }
            if !isText, index - lineBegin > Self.maxLineLength { return .junk }
        }
        return nil
    }

    private mutating func passLine() throws(RTSPFailure) -> Bool {
        switch nextLine() {
        case nil:
            try bound()
            return false
        case .junk?: try drop(to: index)
        case .frame?: try beginPicture(at: index, length: nil)
        case .whole(let line)?:
            let isBoundary = boundary.matches(line, isLenient: isOrderly && gap < Self.maxLineLength)
            try drop(to: index)
            if isBoundary { beginHeaders() }
        }
        return true
    }

    private mutating func beginHeaders() {
        headers = PartHeaders()
        state = .headers
    }

    private mutating func takeHeader() throws(RTSPFailure) -> Bool {
        switch nextLine() {
        case nil:
            guard headers.size + unread <= Self.maxHeadersLength else {
                throw .tooLong(what: "bytes of a part's headers", limit: Self.maxHeadersLength)
            }
            return false
        case .frame?:
            // Without the empty line, or without headers at all.
            try beginPicture(at: index, length: headers.length)
        case .junk?:
            throw .malformed(position: passed, reason: "a part's header of other bytes than text, or too long a line")
        case .whole(var line)?:
            if line.last == UInt8(ascii: "\r") { line.removeLast() }
            let isEmpty = line.isEmpty
            if !isEmpty, !boundary.core.isEmpty, boundary.matches(line, isLenient: false) {
                // Written twice.
                beginHeaders()
            } else if !isEmpty {
                try headers.add(line, size: index - start)
            }
            try drop(to: index)
            if isEmpty, headers.isPicture {
                try beginPicture(at: start, length: headers.length)
            } else if isEmpty {
                other = other ?? headers.type
                state = .skipping(left: headers.length ?? 0)
            }
        }
        return true
    }

    // MARK: Frames

    private mutating func beginPicture(at place: Int, length: Int?) throws(RTSPFailure) {
        try drop(to: place)
        excused = passed
        end = JPEGEnd()
        self.length = passed < doubted ? nil : length
        state = .frame
    }

    private mutating func takeFrame(_ frames: inout [[UInt8]]) throws(RTSPFailure) -> Bool {
        guard try startsRight() else { return false }
        guard case .frame = state else { return true }
        var limit = buffer.count
        var isEnd = false
        if let length {
            limit = min(limit, start + length)
        } else if let found = findBoundary() {
            limit = found
            isEnd = true
        }
        walk(to: limit)
        switch end.state {
        case .done(let size) where size < Self.minFrameBytes || !end.hasScan:
            damaged += 1
            gap += size
            leave(start + size)
            try bound()
            return true
        case .done(let size):
            deliver(start + size, &frames)
            return true
        case .cut(let size):
            damaged += 1
            isOrderly = false
            try broke(upTo: size)
            try beginPicture(at: start + size, length: nil)
            return true
        case .lost where length == nil && boundary.core.isEmpty:
            // Nothing shows where it ends.
            try giveUp(isOrderly: false)
            return true
        case .lost:
            // What its length says is as good as the rest of it.
            if let length, let found = findBoundary(), found <= start + length {
                finish(at: found, &frames, isReported: found == start + length)
                return true
            }
        case .marker, .scan: break
        }
        if isEnd {
            finish(at: limit, &frames, isReported: false)
            return true
        }
        if let length, unread >= length {
            switch boundary.follows(buffer, at: start + length, needsBreak: false) {
            case true?: finish(at: start + length, &frames, isReported: true)
            case false?:
                self.length = nil
                doubted = max(doubted, passed + length)
            case nil: return false
            }
            return true
        }
        guard unread <= Self.maxFrameBytes else {
            throw .tooLong(what: "bytes of a frame", limit: Self.maxFrameBytes)
        }
        return false
    }

    private mutating func walk(to limit: Int) {
        let before = end.position
        end.advance(buffer[start...], limit: limit - start)
        work &+= end.position - before
    }

    /// Whether the first bytes are there; those that begin no frame end the part.
    private mutating func startsRight() throws(RTSPFailure) -> Bool {
        // An empty line more than there should be.
        let blanks = buffer[start...].prefix { $0 == 0x0D || $0 == 0x0A }.count
        if blanks > 0 {
            try drop(to: start + blanks)
            // Whether they were counted is unknown.
            length = nil
        }
        let beginning = JPEGEnd.beginning
        let first = buffer[start...].prefix(beginning.count)
        guard !first.elementsEqual(beginning) else { return true }
        guard !beginning.starts(with: first) else { return false }
        try giveUp(isOrderly: isOrderly)
        return true
    }

    private mutating func giveUp(isOrderly: Bool) throws(RTSPFailure) {
        damaged += 1
        self.isOrderly = isOrderly
        state = .between
        let reached = passed + end.position
        if buffer[start...].starts(with: JPEGEnd.beginning) {
            // Where it ends is unknown.
            try broke(upTo: Self.maxFrameBytes)
            // Not the beginning of the same frame again. What one seemed to hold is looked at for another, once.
            try drop(to: start + (passed < doubted ? min(end.position, unread) : 1))
            doubted = max(doubted, reached)
        }
        beginLine()
    }

    /// - Parameter size: so many bytes from its beginning on may be the frame's.
    private mutating func broke(upTo size: Int) throws(RTSPFailure) {
        broken += 1
        excused = passed + size
        guard broken <= Self.maxBroken else {
            throw .malformed(position: passed, reason: "\(Self.maxBroken) frames in a row have no end")
        }
    }

    /// The place before the line break and the boundary behind it.
    private mutating func findBoundary() -> Int? {
        guard !boundary.core.isEmpty else { return nil }
        searched = max(searched, start)
        let before = searched
        defer { work &+= searched - before }
        while let found = buffer[searched...].firstIndex(of: Self.newLine) {
            switch boundary.follows(buffer, at: found, needsBreak: true) {
            case true?:
                searched = found
                return found > start && buffer[found - 1] == UInt8(ascii: "\r") ? found - 1 : found
            case false?: searched = found + 1
            case nil:
                searched = found
                return nil
            }
        }
        searched = buffer.count
        return nil
    }

    /// The part ends here, and the frame did not say so.
    ///
    /// - Parameter isReported: by its length.
    private mutating func finish(at place: Int, _ frames: inout [[UInt8]], isReported: Bool) {
        var last = place
        while last > start, buffer[last - 1] == 0 || buffer[last - 1] == 0x0D || buffer[last - 1] == 0x0A { last -= 1 }
        work &+= place - last
        if end.hasScan, last >= start + Self.minFrameBytes, buffer[last - 2] == 0xFF, buffer[last - 1] == 0xD9 {
            deliver(last, &frames)
            return
        }
        // Some cameras never send the mark; what is cut off once lacks it as well.
        if end.hasScan, !isReported { endless += 1 }
        if end.hasScan, isReported || endless > Self.maxEndless {
            add(buffer[start..<place] + [0xFF, 0xD9], &frames)
            restarted()
        } else {
            damaged += 1
        }
        isOrderly = true
        leave(place)
    }

    private mutating func deliver(_ place: Int, _ frames: inout [[UInt8]]) {
        add(buffer[start..<place], &frames)
        endless = 0
        restarted()
        isOrderly = true
        leave(place)
    }

    private mutating func restarted() {
        gap = 0
        broken = 0
    }

    private mutating func add(_ frame: ArraySlice<UInt8>, _ frames: inout [[UInt8]]) {
        guard frames.count < Self.maxFrames else {
            damaged += 1
            return
        }
        work &+= frame.count
        frames.append(Array(frame))
    }

    private mutating func leave(_ place: Int) {
        passed += place - start
        start = place
        beginLine()
        state = .between
    }

    // MARK: Bytes

    private mutating func beginLine() {
        index = start
        lineBegin = start
        isText = true
    }

    /// Nothing of what is before this place is a frame.
    private mutating func drop(to place: Int) throws(RTSPFailure) {
        let reached = passed + place - start
        gap += max(reached - max(passed, excused), 0)
        passed = reached
        start = place
        beginLine()
        try bound()
    }

    private func bound() throws(RTSPFailure) {
        guard gap <= Self.longestGap else {
            if let other { throw .noSupportedMedia(offered: [other]) }
            throw .malformed(position: passed, reason: "no frame within \(Self.longestGap) bytes")
        }
    }
}

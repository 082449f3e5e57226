internal import Wire

extension String {
    /// One line of at most `limit` bytes: control characters become spaces, and no character is cut in half.
    func oneLine(limit: Int) -> String {
        ShownText.line(self, bytes: limit)
    }

    /// The first `limit` bytes at most, cut between two scalars.
    func cut(toBytes limit: Int) -> String {
        guard utf8.count > limit else { return self }
        var end = utf8.index(utf8.startIndex, offsetBy: limit)
        while end > utf8.startIndex, utf8[end] & 0xC0 == 0x80 {
            end = utf8.index(before: end)
        }
        return String(self[..<end])
    }
}

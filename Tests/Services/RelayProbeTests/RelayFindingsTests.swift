import Testing

@testable import RelayProbe

/// What is concluded from what came back, without a relay.
@Suite struct RelayFindingsTests {
    private let stream: ProbeStream

    init() throws {
        stream = try ProbeStream(seconds: 2)
    }

    /// The findings of a player that got `frames` of the stream, in this order, after everything that comes before
    /// them.
    private func findings(_ frames: [ProbeStream.Message]) -> RelayFindings {
        var findings = RelayFindings()
        findings.evaluate(sent: stream, early: stream.preamble + frames, late: [])
        return findings
    }

    @Test func `what comes back as it was sent is carried`() {
        let findings = findings(stream.frames)
        #expect(findings.verdict == .carriesEverything && findings.framesForeign == 0)
        #expect(findings.framesExact == stream.frames.count)
    }

    @Test func `one frame that was changed, swapped, doubled or added is enough`() throws {
        let frames = stream.frames
        var changed = frames
        changed[7].body[changed[7].body.count - 1] ^= 1
        var swapped = frames
        swapped.swapAt(3, 4)
        let doubled = frames[...5] + frames[5...]
        // As whole as ours, and sealed for somebody else.
        let added = frames + [try ProbeStream(seconds: 1).frames[0]]
        let cases = [("changed", changed), ("swapped", swapped), ("doubled", Array(doubled)), ("added", added)]
        for (what, frames) in cases {
            let findings = findings(frames)
            #expect(findings.framesForeign == 1 && findings.verdict == .cannotCarry, "\(what)")
            #expect(findings.reason.hasPrefix("1 of \(frames.count) frames came back changed"), "\(what)")
        }
    }

    @Test func `up to a tenth may be missing, and more is not a relay`() {
        let count = stream.frames.count
        #expect(findings(Array(stream.frames.dropFirst(count / 10))).verdict == .carriesEverything)
        let half = findings(Array(stream.frames.dropFirst(count / 2)))
        #expect(half.verdict == .cannotCarry && half.reason.contains("did not come back"))
        #expect(findings([]).reason.hasPrefix("no frame came back"))
    }
}

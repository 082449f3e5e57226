import KeyAccess
import NanoTDF
import TDFCryptography
import Testing
import Wire

@testable import TDF

struct TDFOpenerTests {
    private let stage = TDFStage.shared
    private let segments: [[UInt8]] = (0..<4).map { [UInt8](repeating: UInt8($0), count: 50) }

    /// Why an archive does not open, or nil.
    private func fault(_ change: (inout TDFStage.Sealed) throws -> Void) throws -> TDFError? {
        var sealed = try stage.sealed(segments)
        try change(&sealed)
        do {
            let opener = try stage.opener(sealed)
            for index in 0..<opener.map.count { _ = try opener.open(index, try sealed.bytes(of: index)) }
            return nil
        } catch let error as TDFError {
            return error
        }
    }

    private func swap(_ sealed: inout TDFStage.Sealed) {
        sealed.payload = Array(sealed.payload[78..<156] + sealed.payload[..<78] + sealed.payload[156...])
    }

    @Test func `each form of damage is refused at its place`() throws {
        #expect(try fault { _ in } == nil)
        #expect(try fault { $0.payload[78 * 2 + 20] ^= 1 } == .segmentTag(index: 2))
        #expect(try fault { $0.payload[78 + 3] ^= 1 } == .segmentTag(index: 1))
        #expect(try fault { $0.payload[78 * 3 - 1] ^= 1 } == .segmentHash(index: 2))
        #expect(try fault { swap(&$0) } == .segmentHash(index: 0))
        #expect(
            try fault {
                swap(&$0)
                $0.manifest.encryptionInformation.integrityInformation.segments.swapAt(0, 1)
            } == .rootSignature)
        #expect(
            try fault {
                $0.manifest.encryptionInformation.integrityInformation.segments.removeLast()
                $0.payload.removeLast(78)
            } == .rootSignature)
        #expect(
            try fault {
                $0.manifest.encryptionInformation.integrityInformation.segments = []
                $0.payload = []
            } == .rootSignature)
        #expect(
            try fault {
                let first = $0.manifest.encryptionInformation.integrityInformation.segments[0]
                $0.manifest.encryptionInformation.integrityInformation.segments.append(first)
                $0.payload += $0.payload[..<78]
            } == .rootSignature)
        #expect(
            try fault {
                $0.manifest.encryptionInformation.policy = Base64.encode(
                    Array(#"{"uuid":"0","body":{"dataAttributes":[],"dissem":["all"]}}"#.utf8))
            } == .policyBinding)
        #expect(
            try fault { $0.manifest.encryptionInformation.keyAccess[0].policyBinding = nil } == .policyBinding)
        #expect(try fault { $0.payload.append(0) } == .payloadSize(segments: 312, payload: 313))
    }

    @Test func `a segment of another length than its own is refused`() throws {
        let sealed = try stage.sealed(segments)
        let opener = try stage.opener(sealed)
        let bytes = try sealed.bytes(of: 1)
        #expect(throws: TDFError.segmentLength(index: 1, expected: 78, found: 77)) {
            try opener.open(1, bytes.dropLast())
        }
        #expect(throws: TDFError.segmentLength(index: 1, expected: 78, found: 0)) { try opener.open(1, []) }
    }

    @Test func `a part is in the segments that hold it, and in no others`() throws {
        let map = try TDFSegmentMap(
            try stage.sealed([[], [UInt8](repeating: 0, count: 10), [], [], [UInt8](repeating: 0, count: 5), []])
                .manifest)
        #expect(map.clearSize == 15)
        #expect(map.segments(covering: 0..<1) == 1..<2)
        #expect(map.segments(covering: 9..<10) == 1..<2)
        #expect(map.segments(covering: 9..<11) == 1..<5)
        #expect(map.segments(covering: 10..<15) == 4..<5)
        #expect(map.segments(covering: 14..<1000) == 4..<5)
        #expect(map.segments(covering: 15..<1000).isEmpty)
        #expect(map.segments(covering: 3..<3).isEmpty)
        #expect(map.segments(covering: -5..<1) == 1..<2)
    }
}

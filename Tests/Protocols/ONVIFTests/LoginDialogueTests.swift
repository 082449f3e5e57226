import Cryptography
import ONVIF
import Testing

struct LoginDialogueTests {
    static let utc = ClockCandidates.Reading(candidate: .utc, offset: 7_200_000)
    static let date = ClockCandidates.Reading(candidate: .httpDate, offset: 0)

    private func dialogue(plainText: Bool = false) -> LoginDialogue {
        LoginDialogue(hasUser: true, allowsPlainText: plainText, readings: [Self.utc, Self.date])
    }

    @Test(arguments: [false, true]) func `where one login may be shown, none follows it`(offersDigest: Bool) {
        var login = LoginDialogue(
            hasUser: true, allowsPlainText: true, readings: [Self.utc, Self.date], maxLogins: 1)
        let first = login.current
        #expect(login.wasRefused(first, offersDigest: offersDigest) == .refused([.usernameToken]))
        #expect(login.refusedSchemes == [.usernameToken])
    }

    @Test func `one clock after the other, while nothing else is offered`() {
        var login = dialogue()
        #expect(login.current == .token(Self.utc))
        #expect(login.wasRefused(.token(Self.utc), offersDigest: false) == .retry(.token(Self.date)))
        login.wasAccepted(.token(Self.date))
        #expect(login.provenReading == Self.date)
        #expect(login.provenScheme == .usernameToken)
    }

    @Test func `Digest as soon as it is offered, and then no clock any more`() {
        var login = dialogue()
        #expect(login.wasRefused(.token(Self.utc), offersDigest: true) == .retry(.httpDigest))
        #expect(login.wasRefused(.httpDigest, offersDigest: true) == .refused([.usernameToken, .httpDigest]))
        #expect(login.refusedSchemes == [.usernameToken, .httpDigest])
        // Whoever asks again gets the same, without another attempt.
        #expect(login.wasRefused(login.current, offersDigest: true) == .refused([.usernameToken, .httpDigest]))
    }

    @Test func `the readable password last, and only where it is allowed`() {
        var login = dialogue(plainText: true)
        #expect(login.wasRefused(.token(Self.utc), offersDigest: true) == .retry(.httpDigest))
        #expect(login.wasRefused(.httpDigest, offersDigest: true) == .retry(.plainText(Self.utc)))
        #expect(
            login.wasRefused(.plainText(Self.utc), offersDigest: true)
                == .refused([.usernameToken, .httpDigest, .plainText]))
    }

    @Test func `without a user there is one answer`() {
        var login = LoginDialogue(hasUser: false, allowsPlainText: true, readings: [Self.utc])
        #expect(login.current == .open)
        #expect(login.wasRefused(.open, offersDigest: true) == .loginNeeded)
    }

    @Test func `a login that was accepted is gone back to`() {
        var login = dialogue()
        login.wasAccepted(.token(Self.utc))
        #expect(login.wasRefused(.token(Self.utc), offersDigest: false) == .retry(.token(Self.date)))
        #expect(login.wasRefused(.token(Self.date), offersDigest: false) == .forbidden)
        #expect(login.current == .token(Self.utc))
        #expect(login.refusedSchemes == nil)
        #expect(login.wasRefused(.token(Self.utc), offersDigest: false) == .forbidden)
    }

    @Test func `three logins in a round, and the next round goes on`() {
        let readings: [ClockCandidates.Reading] = [.utc, .httpDate, .localWithZone, .localAsUTC, .own].enumerated()
            .map { ClockCandidates.Reading(candidate: $1, offset: Int64($0) * 10_000) }
        for plainText in [false, true] {
            var login = LoginDialogue(hasUser: true, allowsPlainText: plainText, readings: readings)
            var rounds: [[LoginDialogue.Attempt]] = []
            for _ in 0..<3 {
                login.beginRound()
                var shown = [login.current]
                while case .retry(let next) = login.wasRefused(login.current, offersDigest: false) {
                    shown.append(next)
                }
                rounds.append(shown)
            }
            #expect(rounds.allSatisfy { $0.count <= 3 })
            if plainText {
                #expect(rounds.allSatisfy { $0.last == .plainText(readings[0]) })
                #expect(rounds[1].first == .token(readings[2]) && login.nextCandidate == .utc)
            } else {
                #expect(rounds[0] + rounds[1] == readings.map { .token($0) })
                #expect(rounds[2].first == .token(readings[0]) && login.nextCandidate == .localAsUTC)
            }
        }
    }

    @Test func `two calls at once move on once`() {
        var login = dialogue()
        #expect(login.wasRefused(.token(Self.utc), offersDigest: true) == .retry(.httpDigest))
        #expect(login.wasRefused(.token(Self.utc), offersDigest: true) == .retry(.httpDigest))
        #expect(login.current == .httpDigest)
    }

    @Test func `a clock that was set makes the same login worth another attempt`() {
        var login = dialogue()
        login.wasAccepted(.token(Self.utc))
        let same = ClockCandidates.Reading(candidate: .utc, offset: 7_201_000)
        let moved = ClockCandidates.Reading(candidate: .utc, offset: -5000)
        let isMovedByASecond = login.clockWasRead([same])
        let isMoved = login.clockWasRead([moved])
        #expect(!isMovedByASecond && isMoved)
        #expect(login.current == .token(moved))
        #expect(login.isProven)
    }

    @Test func `the digest of the standard's example`() {
        // ONVIF Core specification, Application Programmer's Guide §6.1.1.3.
        let nonce: [UInt8] = [
            0x2C, 0xA2, 0xE7, 0x5A, 0xCA, 0x74, 0x2B, 0x4B, 0x9C, 0x1D, 0x5E, 0x6F, 0x70, 0x81, 0x92, 0xA3,
        ]
        let token = UsernameToken(
            user: "a<b&\"c", password: "userpassword", nonce: nonce, milliseconds: 1_284_625_700_999,
            sha1: { Digest.sha1($0) })
        let envelope = DeviceInformation.request.envelope(token: token)
        let created = "2010-09-16T08:28:20Z"
        #expect(envelope.contains("<wsu:Created>\(created)</wsu:Created>"))
        #expect(envelope.contains("<wsse:Username>a&lt;b&amp;&quot;c</wsse:Username>"))
        let expected = Digest.sha1(nonce + Array(created.utf8) + Array("userpassword".utf8))
        #expect(envelope.contains(">\(base64(expected))</wsse:Password>"))
        #expect(envelope.contains("#PasswordDigest\""))
        #expect(!envelope.contains("userpassword"))
        #expect(!envelope.contains("\n"))
        var dumped = ""
        dump(token, to: &dumped)
        #expect(!"\(token)\(dumped)".contains("userpassword"))
    }

    private func base64(_ bytes: [UInt8]) -> String {
        let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
        var bits = bytes.flatMap { byte in (0..<8).map { byte >> (7 - $0) & 1 } }
        while bits.count % 6 != 0 { bits.append(0) }
        var text = stride(from: 0, to: bits.count, by: 6).map { start in
            digits[bits[start..<start + 6].reduce(0) { $0 * 2 + Int($1) }]
        }
        while text.count % 4 != 0 { text.append("=") }
        return String(text)
    }
}

import ControlAPI
import CredentialStore
import ErrorCatalog
import Foundation
import KeyAccess
import Logging
import Synchronization
import Systemd
import Testing
import Wire

@testable import ControlPlane
@testable import KeyAccessClient

/// A key access server as control meets it, and the time of day.
private final class ScriptedKeyAccess: Sendable {
    struct State {
        var now: Int64 = 1_800_000_000
        /// What is answered instead of a token.
        var refusal: KeyAccessError?
        var narrowRefusal: KeyAccessError?
        var renewals: [String] = []
        var narrowed: [String] = []
        var issued = 0
        /// Called while a renewal is under way.
        var meanwhile: (@Sendable () async -> Void)?
    }

    let state = Mutex(State())

    var now: Int64 {
        get { state.withLock { $0.now } }
        set { state.withLock { $0.now = newValue } }
    }

    static func token(
        id: String, from start: Int64, to end: Int64, renewable: Bool = true, parent: String? = nil,
        stream: String? = nil
    ) -> String {
        var claims = AccessClaims(
            issuer: "urn:watchbox:kas", subject: "box", audience: ["a"], expiresAt: NumericDate(seconds: end),
            issuedAt: NumericDate(seconds: start), scopes: [Scope.publish], streams: [stream ?? "*"], tokenID: id)
        claims.isRenewable = renewable
        claims.isNarrowed = stream != nil
        claims.parentID = parent
        let input = JSONWebToken.signingInput(
            header: Array("{}".utf8), claims: Array(try! JSONEncoder().encode(claims)))
        return JSONWebToken.compact(signingInput: input, signature: [1])
    }

    var tools: KeyAccessTools {
        KeyAccessTools(
            renew: { _, token in
                await self.state.withLock { $0.meanwhile }?()
                return self.state.withLock { state in
                    state.renewals.append(token)
                    if let refusal = state.refusal { return .failure(refusal) }
                    state.issued += 1
                    let end = state.now + 30 * 86_400
                    return .success(
                        .init(
                            token: Self.token(
                                id: "renewed-\(state.issued)", from: state.now, to: end,
                                parent: AccessTokenFacts(token)?.id), expiresAt: end))
                }
            },
            narrow: { _, token, stream in
                self.state.withLock { state in
                    if let refusal = state.narrowRefusal { return .failure(refusal) }
                    state.narrowed.append(stream)
                    state.issued += 1
                    let end = state.now + 30 * 86_400
                    return .success(
                        .init(
                            token: Self.token(
                                id: "own-\(state.issued)", from: state.now, to: end, renewable: false,
                                parent: AccessTokenFacts(token)?.id, stream: stream), expiresAt: end))
                }
            })
    }
}

@Suite(.timeLimit(.minutes(15)))
struct TokenTests {
    private static let start: Int64 = 1_800_000_000

    private func box(_ stage: ControlStage, _ kas: ScriptedKeyAccess) async throws -> ControlService {
        try stage.write(
            """
            relay.main = { url = "rtmp://127.0.0.1:1935/live" }
            kas = { url = "http://127.0.0.1:9443/kas", secret = "kas-token" }
            camera.a = { source = "test:" }
            camera.b = { source = "test:", stream = "yard" }

            """)
        let service = ControlService(
            paths: stage.paths, units: stage.units, credentials: try stage.makeCredentials(),
            notifier: Notifier(socketPath: nil),
            journal: JournalAccess(read: { _ in [] }, follow: { _ in AsyncThrowingStream { $0.finish() } }),
            watchdogInterval: nil, version: "1.2.3", logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
            clock: ControlClock(
                realtimeMicroseconds: { kas.now * 1_000_000 },
                sinceBoot: { .seconds(kas.now - Self.start + 100) }, bootIdentifier: "boot",
                sleep: { try await Task.sleep(for: $0) }),
            transaction: FileTransaction(willDo: { _ in }), network: stage.network.tools, keyAccess: kas.tools,
            deadlines: stage.deadlines)
        await service.core.boot()
        await service.core.unitJobs.settled()
        return service
    }

    private func give(_ control: ControlService, _ token: String) async {
        #expect(await control.send(.put, "kas/token", #"{"secret":"\#(token)"}"#).status == 204)
    }

    /// What a unit would get that is started now.
    private func stored(_ stage: ControlStage, scope: String) throws -> AccessTokenFacts? {
        let bytes = try stage.makeCredentials().reveal(name: "kas-token", scope: scope)
        return bytes.flatMap { AccessTokenFacts(String(decoding: $0, as: UTF8.self)) }
    }

    @Test func `a token is renewed when half of its life is over, and never before`() async throws {
        let (stage, kas) = (try ControlStage(), ScriptedKeyAccess())
        let control = try await box(stage, kas)
        await give(control, ScriptedKeyAccess.token(id: "first", from: Self.start, to: Self.start + 30 * 86_400))
        kas.now += 15 * 86_400 - 1
        await control.core.careForToken()
        #expect(kas.state.withLock { $0.renewals.isEmpty })
        #expect(try stored(stage, scope: "box")?.id == "first")
        kas.now += 1
        await control.core.careForToken()
        let renewed = try #require(try stored(stage, scope: "box"))
        #expect(renewed.id?.hasPrefix("renewed-") == true)
        #expect(renewed.expiresAt == kas.now + 30 * 86_400)
        // For years, without anybody.
        for _ in 0..<50 {
            kas.now += 16 * 86_400
            await control.core.careForToken()
            #expect(try #require(try stored(stage, scope: "box")).expiresAt > kas.now + 15 * 86_400)
        }
        // A control that is started again goes on with it.
        let again = try await box(stage, kas)
        #expect(await again.core.tokenFacts == (try stored(stage, scope: "box")))
    }

    @Test func `what cannot be renewed is reported a week ahead, and at its end, with what to do`() async throws {
        let (stage, kas) = (try ControlStage(), ScriptedKeyAccess())
        let control = try await box(stage, kas)
        let answer = await control.send(.get, "events", query: ["topics": "kas"])
        let stream = try #require(answer.events)
        await give(control, ScriptedKeyAccess.token(id: "first", from: Self.start, to: Self.start + 30 * 86_400))
        kas.state.withLock { $0.refusal = .status(503, message: "away") }
        kas.now += 23 * 86_400
        await control.core.careForToken()
        kas.now += 10
        await control.core.careForToken()
        #expect(try await control.get(KeyAccessDocument.self, "kas").code == .tokenEndsSoon)
        // Running cameras are left alone.
        #expect(stage.units.calls(of: "a").last != "stop")
        kas.now += 7 * 86_400
        kas.state.withLock { $0.refusal = .status(403, message: "has ended") }
        await control.core.careForToken()
        #expect(Catalog.entries.contains { $0.code == .tokenEnded && $0.hint.contains("--readmit") })
        #expect(try await control.get(KeyAccessDocument.self, "kas").code == .tokenEnded)
        // The way back: its owner grants it, and the box that asks every day has it.
        kas.state.withLock { $0.refusal = nil }
        kas.now += 86_400
        await control.core.careForToken()
        var events: [EventDocument] = []
        for await event in stream {
            events.append(try JSONDocument.decode(EventDocument.self, from: Array(event.data.utf8)))
            if events.count == 5 { break }
        }
        try #require(events.count == 5)
        #expect(events.map(\.code) == [nil, .tokenEndsSoon, .tokenEnded, nil, nil])
        #expect(events[1].text.contains("away"))
        #expect(events[2].text.contains("has ended"))
        #expect(events[3].text.hasPrefix("the token was renewed until"))
        #expect(events[4].text.hasPrefix("the token is fine again"))
        #expect(try await control.get(KeyAccessDocument.self, "kas").code == nil)
        #expect(try #require(try stored(stage, scope: "box")).expiresAt > kas.now)
    }

    @Test func `every camera gets a token for its own stream, and learns of it without being restarted`() async throws {
        let (stage, kas) = (try ControlStage(), ScriptedKeyAccess())
        let control = try await box(stage, kas)
        let shown = Mutex<[String]>([])
        await give(control, ScriptedKeyAccess.token(id: "first", from: Self.start, to: Self.start + 30 * 86_400))
        let process = try CameraStub("a", of: stage) { line, body in
            guard line.hasPrefix("PUT /api/v1/kas-token "),
                let secret = try? JSONDocument.decode(SecretRequest.self, from: body).secret
            else { return nil }
            shown.withLock { $0.append(secret) }
            return .done
        }
        stage.units.forgetCalls()
        await control.core.careForToken()
        #expect(kas.state.withLock { $0.narrowed } == ["a", "yard"])
        #expect(try stored(stage, scope: "camera-a")?.narrowedStream == "a")
        #expect(try stored(stage, scope: "camera-b")?.narrowedStream == "yard")
        #expect(stage.units.words == [])
        #expect(shown.withLock { $0 }.compactMap { AccessTokenFacts($0)?.narrowedStream } == ["a"])
        // Not again and again.
        await control.core.careForToken()
        #expect(kas.state.withLock { $0.narrowed.count } == 2)
        // Made from the box's token: with a renewed one they are made again, and passed on.
        kas.now += 16 * 86_400
        await control.core.careForToken()
        #expect(kas.state.withLock { $0.narrowed.count } == 4)
        let box = try #require(try stored(stage, scope: "box"))
        #expect(try stored(stage, scope: "camera-a")?.parentID == box.id)
        #expect(shown.withLock { $0.count } == 2)
        withExtendedLifetime(process) {}
    }

    @Test func `the token of a camera that is renamed goes along, unless its stream is another one`() async throws {
        let (stage, kas) = (try ControlStage(), ScriptedKeyAccess())
        let control = try await box(stage, kas)
        #expect(await control.send(.post, "cameras", #"{"id":"c","source":"test:"}"#).status == 201)
        await give(control, ScriptedKeyAccess.token(id: "first", from: Self.start, to: Self.start + 30 * 86_400))
        await control.core.careForToken()
        let own = try #require(try stored(stage, scope: "camera-c"))
        let count = kas.state.withLock { $0.narrowed.count }
        #expect(await control.send(.post, "cameras/c/rename", #"{"id":"d"}"#).status == 200)
        #expect(try stored(stage, scope: "camera-d") == own && own.narrowedStream == "c")
        await control.core.careForToken()
        #expect(kas.state.withLock { $0.narrowed.count } == count)

        // One for another stream would be refused: the box's does until there is a new one, which is asked for at once.
        #expect(await control.send(.post, "cameras/d/rename", #"{"id":"e","stream":"e"}"#).status == 200)
        #expect(try stored(stage, scope: "camera-e") == nil && stored(stage, scope: "camera-d") == nil)
        #expect(stage.file("run/secret/box-camera-e/kas-token") != nil)
        await control.core.beginTokenCare()
        await control.core.tokens.task?.value
        #expect(try stored(stage, scope: "camera-e")?.narrowedStream == "e")
        #expect(stage.units.calls(of: "e") == ["start"])
    }

    @Test func `a camera whose stream is named again starts without the token for the former stream`() async throws {
        let (stage, kas) = (try ControlStage(), ScriptedKeyAccess())
        let control = try await box(stage, kas)
        #expect(await control.send(.post, "cameras", #"{"id":"c","source":"test:"}"#).status == 201)
        await give(control, ScriptedKeyAccess.token(id: "first", from: Self.start, to: Self.start + 30 * 86_400))
        await control.core.careForToken()
        #expect(try stored(stage, scope: "camera-c")?.narrowedStream == "c")
        #expect(await control.send(.patch, "cameras/c", #"{"settings":{"bitrate":500000}}"#).status == 200)
        #expect(try stored(stage, scope: "camera-c") != nil)
        #expect(await control.send(.patch, "cameras/c", #"{"settings":{"stream":"z"}}"#).status == 200)
        #expect(try stored(stage, scope: "camera-c") == nil)
        #expect(stage.file("run/secret/box-camera-c/kas-token") != nil)
        await control.core.beginTokenCare()
        await control.core.tokens.task?.value
        #expect(try stored(stage, scope: "camera-c")?.narrowedStream == "z")
    }

    @Test func `with a server that cannot narrow the cameras go on with the box's token`() async throws {
        let (stage, kas) = (try ControlStage(), ScriptedKeyAccess())
        let control = try await box(stage, kas)
        let token = ScriptedKeyAccess.token(id: "first", from: Self.start, to: Self.start + 30 * 86_400)
        await give(control, token)
        await control.core.careForToken()
        #expect(try stored(stage, scope: "camera-a") != nil)
        // Another server: what was made from the token of before is gone before anything starts with it.
        kas.state.withLock { $0.narrowRefusal = .status(404, message: "") }
        stage.units.forgetCalls()
        await give(control, token)
        #expect(try stored(stage, scope: "camera-a") == nil)
        await control.core.careForToken()
        #expect(try stored(stage, scope: "camera-a") == nil)
        #expect(stage.units.calls(of: "a") == ["restart"])
        #expect(stage.units.running.count == 2)
    }

    @Test func `an owner who sets a token while one is renewed keeps it`() async throws {
        let (stage, kas) = (try ControlStage(), ScriptedKeyAccess())
        let control = try await box(stage, kas)
        await give(control, ScriptedKeyAccess.token(id: "first", from: Self.start, to: Self.start + 30 * 86_400))
        kas.now += 16 * 86_400
        let own = ScriptedKeyAccess.token(id: "owner", from: kas.now, to: kas.now + 30 * 86_400)
        kas.state.withLock { state in
            state.meanwhile = { _ = await control.send(.put, "kas/token", #"{"secret":"\#(own)"}"#) }
        }
        await control.core.careForToken()
        #expect(try stored(stage, scope: "box")?.id == "owner")
        #expect(await control.core.tokenFacts?.id == "owner")
    }

    @Test func `where only systemd opens secrets the token is handed over, and an older one is not taken`() async throws
    {
        let (stage, kas) = (try ControlStage(), ScriptedKeyAccess())
        let control = try await box(stage, kas)
        func handOver(_ id: String) async {
            let token = ScriptedKeyAccess.token(id: id, from: Self.start, to: Self.start + 30 * 86_400)
            let body = #"{"secrets":{"kas-token":"\#(token)","relay-main":"x"}}"#
            #expect(await control.send(.post, "kas/handed-over", body).status == 204)
        }
        #expect(await control.core.tokenFacts == nil)
        await handOver("handed")
        #expect(await control.core.tokenFacts?.id == "handed")
        await handOver("older")
        #expect(await control.core.tokenFacts?.id == "handed")
        let stranger = await control.router.answer(
            APIRequest(
                .post, "/api/v1/kas/handed-over", query: [:], body: Array(#"{"secrets":{}}"#.utf8), ifMatch: nil,
                lastEventID: nil,
                peer: .init(
                    processIdentifier: 1, userIdentifier: 1000, groupIdentifier: 1000, isAdministrator: false)))
        #expect(stranger.status == 403)
    }

    @Test func `the next look comes sooner after a failure, daily after a refusal, and not in step with other boxes`() {
        var care = TokenCare()
        var pauses: [Duration] = []
        for _ in 0..<8 {
            care.failed("x", isRefused: false, at: .zero, random: 0)
            pauses.append(care.dueAt)
        }
        #expect(pauses.prefix(4) == [.seconds(60), .seconds(120), .seconds(240), .seconds(480)])
        #expect(pauses.last == TokenCare.period)
        care.failed("x", isRefused: true, at: .seconds(5), random: 0)
        #expect(care.dueAt == .seconds(86_405))
        care.foundWell(at: .zero, random: 999)
        #expect(care.dueAt < TokenCare.period && care.dueAt >= TokenCare.period * 0.9)
        #expect(TokenCare.standing(expiresAt: 100, now: 100) == .ended)
        #expect(TokenCare.standing(expiresAt: 100, now: 99) == .endsSoon)
        #expect(TokenCare.standing(expiresAt: TokenCare.warning, now: 0) == .well)
        let reported: [(TokenCare.Standing, Int64)] = [
            (.well, 0), (.endsSoon, 0), (.endsSoon, 86_399), (.endsSoon, 86_400), (.ended, 86_401), (.well, 86_402),
        ]
        var answers: [Bool] = []
        for (standing, now) in reported { answers.append(care.reports(standing, now: now)) }
        #expect(answers == [false, true, false, true, true, true])
    }
}

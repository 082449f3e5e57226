internal import BoxConfiguration
internal import CameraModel
internal import ControlAPI
internal import CredentialStore
internal import ErrorCatalog
internal import FoundationEssentials
internal import KeyAccessClient
internal import Logging
internal import Settings

/// The life of the box's token: renewed before it ends, narrowed for each camera, sent to those that run.
extension ControlCore {
    /// Begins a look at the token when one is due; never two at a time.
    func beginTokenCare() {
        guard tokens.task == nil, clock.sinceBoot() >= tokens.care.dueAt else { return }
        tokens.task = Task {
            await self.careForToken()
            self.tokens.task = nil
        }
    }

    /// A process that systemd gave the box's secrets brings the token, which control may not open itself. What came
    /// meanwhile is newer.
    func takeOver(_ secrets: [String: String]) {
        takeOverDevice(secrets)
        guard let name = current.settings.kas?.secret, tokens.box[name] == nil, let token = secrets[name] else {
            return
        }
        tokens.box[name] = token
        tokens.care.tokenChanged()
    }

    /// An owner set another token.
    func replaced(token: String, name: String) {
        tokens.box = [name: token]
        tokens.cameras = [:]
        tokens.sent = [:]
        tokens.version += 1
        tokens.care.tokenChanged()
    }

    /// A token for the previous stream is not valid for the one that a camera has now: it has the box's, until there is a
    /// new one, which is asked for at once.
    func forgetTokens(ofStreamsIn former: BoxSettings) {
        guard let name = current.settings.kas?.secret else { return }
        for (id, camera) in current.settings.cameras.sorted(by: { $0.key < $1.key }) {
            guard let before = former.cameras[id], before.streamName(id) != camera.streamName(id),
                camera.secret != name, camera.passwordSecret != name
            else { continue }
            tokens.cameras[id] = nil
            tokens.care.cameraCame()
            do {
                try transaction.willDo("credentials: remove")
                try credentials.remove(name: name, scope: "camera-\(id)")
            } catch {
                logger.warning("camera \(id) starts with a token for another stream: \(error)")
            }
        }
    }

    /// One look: renews, reports the state, and gives the cameras what they need. Never stops a camera.
    func careForToken() async {
        tokens.care.foundWell(at: clock.sinceBoot(), random: .random(in: 0 ... .max))
        guard let kas = current.settings.kas, let name = kas.secret, let token = boxToken(name),
            let facts = AccessTokenFacts(token)
        else { return }
        let server = KASConfiguration(
            url: kas.url, certificateAuthorityFile: kas.caFile, publicKeyPin: kas.publicKeyPin)
        if facts.isRenewable, facts.isPastHalf(at: clock.seconds) {
            await renew(token, facts, name: name, server)
        }
        guard let token = boxToken(name), let facts = AccessTokenFacts(token) else { return }
        reportStanding(facts)
        if facts.expiresAt > clock.seconds { await narrow(token, facts, name: name, server) }
        await sendToCameras(token, facts, name: name)
    }

    /// How the box's token stands, for documents; nil for none, or one that says nothing of itself.
    var tokenFacts: AccessTokenFacts? {
        current.settings.kas?.secret.flatMap { boxToken($0) }.flatMap { AccessTokenFacts($0) }
    }

    private func boxToken(_ name: String) -> String? {
        if let held = tokens.box[name] { return held }
        guard let bytes = try? credentials.reveal(name: name, scope: "box") else { return nil }
        return String(validating: bytes, as: UTF8.self)
    }

    private func renew(_ token: String, _ facts: AccessTokenFacts, name: String, _ server: KASConfiguration) async {
        let version = tokens.version
        let answer = await keyAccessTools.renew(server, token)
        // An owner was faster, or names another server now.
        guard tokens.version == version, current.settings.kas?.secret == name, current.settings.kas?.url == server.url
        else { return }
        let instant = clock.sinceBoot()
        switch answer {
        case .success(let renewed):
            do {
                try transaction.willDo("credentials: renew")
                try await credentials.set(Array(renewed.token.utf8), name: name, scope: "box")
                // The owner's token came while this one was sealed: it is what is kept.
                if tokens.version != version {
                    if let newer = tokens.box[name] {
                        try await credentials.set(Array(newer.utf8), name: name, scope: "box")
                    }
                    return
                }
            } catch {
                // Not kept, and so not used: after a start of the box there would be only the old one.
                tokens.care.failed(
                    "it could not be stored: \(error)", isRefused: false, at: instant, random: .random(in: 0 ... .max))
                return
            }
            tokens.box[name] = renewed.token
            tokens.care.renewed()
            let end = Self.date(renewed.expiresAt)
            hub.publish(.kas, "the token was renewed until \(end)")
            logger.notice("the token for the key access server was renewed until \(end)")
        case .failure(let error):
            // Refused, it waits for its owner; a network that is not there yet may come any moment.
            let isRefused = facts.expiresAt <= clock.seconds && error.retry == .late
            tokens.care.failed("\(error)", isRefused: isRefused, at: instant, random: .random(in: 0 ... .max))
        }
    }

    private func reportStanding(_ facts: AccessTokenFacts) {
        let now = clock.seconds
        let standing = TokenCare.standing(expiresAt: facts.expiresAt, now: now)
        guard tokens.care.reports(standing, now: now) else { return }
        guard let code = standing.code else {
            hub.publish(.kas, "the token is fine again, until \(Self.date(facts.expiresAt))")
            return
        }
        let why =
            tokens.care.problem.map { "it could not be renewed: \($0)" }
            ?? (facts.isRenewable ? "it is about to be renewed" : "it cannot be renewed")
        let verb = standing == .ended ? "ended" : "ends"
        let text = "the token for the key access server \(verb) \(Self.date(facts.expiresAt)); \(why)"
        hub.publish(.kas, code: code, text)
        logger.warning("\(text)", metadata: ["code": "\(code)"])
    }

    /// A token of its own for each camera, as far as the server makes one. A camera without goes on with the box's.
    private func narrow(_ token: String, _ facts: AccessTokenFacts, name: String, _ server: KASConfiguration) async {
        let version = tokens.version
        for (id, camera) in current.settings.cameras.sorted(by: { $0.key < $1.key }) {
            // A secret of that name is the camera's own.
            guard camera.active, camera.secret != name, camera.passwordSecret != name else { continue }
            let stream = camera.streamName(id)
            let now = clock.seconds
            if let own = tokens.cameras[id], own.narrowedStream == stream, own.parentID == facts.id,
                !own.isPastHalf(at: now)
            {
                continue
            }
            let arrival = arrivals[id]
            switch await keyAccessTools.narrow(server, token, stream) {
            case .success(let narrowed):
                guard tokens.version == version, current.settings.cameras[id] != nil, arrivals[id] == arrival,
                    let own = AccessTokenFacts(narrowed.token), own.narrowedStream == stream
                else { continue }
                do {
                    try await credentials.set(Array(narrowed.token.utf8), name: name, scope: "camera-\(id)")
                    guard tokens.version == version, current.settings.cameras[id] != nil, arrivals[id] == arrival else {
                        try credentials.remove(name: name, scope: "camera-\(id)")
                        continue
                    }
                } catch {
                    logger.warning("camera \(id) goes on with the token that it has: \(error)")
                    continue
                }
                tokens.cameras[id] = own
                await sendToken(narrowed.token, own, to: id)
            case .failure(.status(let status, _)) where [403, 404, 405].contains(status):
                // Another kind of server, or the token is not for this stream: what it has of its own is of no use.
                _ = try? credentials.remove(name: name, scope: "camera-\(id)")
                tokens.cameras[id] = nil
                // Its unit, which systemd may start again at any time, has the box's again.
                try? Self.provide(to: id, credentials, runtime, hub: hub, logger: logger)
            case .failure:
                // Away: once more with the next look.
                continue
            }
        }
        for id in tokens.cameras.keys where current.settings.cameras[id] == nil { tokens.cameras[id] = nil }
    }

    /// A unit's credentials stay as they were when it was started: its process is sent what came since.
    private func sendToCameras(_ token: String, _ facts: AccessTokenFacts, name: String) async {
        for (id, camera) in current.settings.cameras where camera.active {
            guard tokens.cameras[id] == nil, camera.secret != name, camera.passwordSecret != name else { continue }
            await sendToken(token, facts, to: id)
        }
    }

    /// One that does not listen reads it when it is started again, and is sent it once more with the next look.
    private func sendToken(_ token: String, _ facts: AccessTokenFacts, to id: String) async {
        guard let identifier = facts.id, tokens.sent[id] != identifier, let user = try? await user(of: id) else {
            return
        }
        do {
            try await processes.replaceToken(token, of: id, user: user)
            tokens.sent[id] = identifier
        } catch {
            logger.info("camera \(id) was not sent its new token: \(error)", metadata: ["camera": "\(id)"])
        }
    }

    static func date(_ seconds: Int64) -> String {
        Date(timeIntervalSince1970: Double(seconds)).formatted(.iso8601)
    }
}

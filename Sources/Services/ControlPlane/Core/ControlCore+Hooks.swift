internal import BoxConfiguration
internal import ControlAPI
internal import ControlClient
internal import ErrorCatalog
internal import Settings

extension ControlCore {
    /// Attempts to reach the hooks' process for a test, which may have been started this moment; 200 ms lie between them.
    private static let testAttempts = 25

    func hooks() async -> [HookDocument] {
        let names = boxSecrets()
        let states = await hookStates()
        return current.settings.hooks.sorted { $0.key < $1.key }.map { hook($0.key, $0.value, names, states[$0.key]) }
    }

    func hook(_ name: String) async throws -> HookDocument {
        let states = await hookStates()
        return hook(name, try requireHook(name), boxSecrets(), states[name])
    }

    func noHook(_ name: String) -> CodedError {
        CodedError(
            .notFound, "there is no hook \(name)", next: Self.nearest(name, in: Array(current.settings.hooks.keys)),
            object: name)
    }

    private func requireHook(_ name: String) throws -> HookSettings {
        _ = try CameraIdentifier.checkHook(name)
        guard let hook = current.settings.hooks[name] else { throw noHook(name) }
        return hook
    }

    private func hook(
        _ name: String, _ hook: HookSettings, _ secrets: Set<String>, _ state: HookState?
    ) -> HookDocument {
        HookDocument(
            name: name, kind: hook.kind.rawValue, url: hook.secret == nil ? hook.url : nil,
            hasSecret: hook.secret.map { secrets.contains($0) } ?? false,
            hasToken: hook.tokenSecret.map { secrets.contains($0) } ?? false, events: hook.events.map(\.rawValue),
            cameras: hook.cameras, certificateAuthorityFile: hook.caFile, publicKeyPin: hook.publicKeyPin,
            isEnabled: hook.enabled, origin: current.settings.origins["hook.\(name)"] ?? "store",
            state: hook.enabled ? state : nil)
    }

    /// As their process says; none when it does not answer.
    private func hookStates() async -> [String: HookState] {
        guard target.services[UnitName.hooks] != nil else { return [:] }
        let client = ControlClient(
            socketPath: paths.hooksSocket, readTimeout: deadlines.status,
            maximumAnswerBytes: ControlClient.cameraAnswerBytes)
        return (try? await client.get(HookStatesDocument.self, "/api/v1/hooks"))?.hooks ?? [:]
    }

    /// Adds a hook, or changes what the request names of one. An empty text takes a setting away.
    ///
    /// - Returns: the diff for a dry run, else nil.
    func setHook(_ name: String, _ request: HookRequest, ifRevision: Int?, dryRun: Bool) throws -> ConfigurationDiff? {
        let name = try CameraIdentifier.checkHook(name)
        try requireNotInFile("hook.\(name)")
        let known = current.store.object("hook", name)
        if known == nil, current.settings.hooks.count >= Self.hookLimit {
            throw CodedError(.tooMuch, "hook \(name) was not added", why: "a box has at most \(Self.hookLimit)")
        }
        // With the secrets' names, which are set with the secrets only.
        var settings = known?.settings ?? [:]
        let texts = [
            "kind": request.kind, "url": request.url, "ca_file": request.certificateAuthorityFile,
            "public_key_pin": request.publicKeyPin,
        ]
        for case (let key, let text?) in texts { settings[key] = text.isEmpty ? nil : .string(text) }
        for case (let key, let list?) in ["events": request.events, "cameras": request.cameras] {
            settings[key] = list.isEmpty ? nil : .strings(list)
        }
        if let isEnabled = request.isEnabled { settings["enabled"] = .boolean(isEnabled) }
        guard settings["url"] != nil || settings["secret"] != nil else {
            throw CodedError(.badRequest, "url is missing", next: "Give the hook's URL; a secret one as its secret")
        }
        return try put(
            "hook", name, settings, known, ifRevision, "hook \(known == nil ? "add" : "edit") \(name)", dryRun)
    }

    func removeHook(_ name: String, ifRevision: Int?, dryRun: Bool) throws -> ConfigurationDiff? {
        let name = try CameraIdentifier.checkHook(name)
        try requireNotInFile("hook.\(name)")
        return try remove(
            "hook", name, secrets: ["secret", "token_secret"], ifRevision, dryRun, missing: noHook(name))
    }

    /// Has the hooks' process send one message now.
    func testHook(_ name: String) async throws -> HookTestDocument {
        guard try requireHook(name).enabled else {
            throw CodedError(
                .badRequest, "hook \(name) is switched off", next: "Run: watchboxctl hook edit \(name) --enable",
                object: name)
        }
        try? await crew.settled(UnitName.hooks)
        let client = ControlClient(
            socketPath: paths.hooksSocket, changeTimeout: .seconds(20),
            maximumAnswerBytes: ControlClient.cameraAnswerBytes)
        var attempts = 1
        while true {
            do throws(ControlClientError) {
                return try await client.send(.post, "/api/v1/hooks/\(name)/test", as: HookTestDocument.self)
            } catch .problem(let problem) {
                throw CodedError(problem.code, problem.detail, next: problem.next, object: name)
            } catch .unreachable where attempts < Self.testAttempts {
                attempts += 1
            } catch {
                throw CodedError(
                    .unreachable, "the process that tells events to hooks does not answer", why: "\(error)",
                    next: "Run: systemctl status watchbox-hooks", object: name)
            }
            try await clock.sleep(.milliseconds(200))
        }
    }
}

internal import BoxConfiguration
internal import ControlAPI
internal import ControlClient
internal import ErrorCatalog
internal import Settings

extension ControlCore {
    /// Attempts to reach the hooks' process for a test, which may have been started this moment; 200 ms lie between
    /// them.
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

    private func requireHook(_ name: String) throws -> HookSettings {
        guard let hook = current.settings.hooks[try NamedObject.hook.check(name)] else { throw missing(.hook, name) }
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
        return (try? await client.get(HookStatesDocument.self, APIPath.hooks()))?.hooks ?? [:]
    }

    func setHook(_ name: String, _ request: HookRequest, ifRevision: Int?, dryRun: Bool) throws -> ConfigurationDiff? {
        try set(
            .hook, name,
            texts: [
                "kind": request.kind, "url": request.url, "ca_file": request.certificateAuthorityFile,
                "public_key_pin": request.publicKeyPin,
            ], lists: ["events": request.events, "cameras": request.cameras], isEnabled: request.isEnabled,
            ifRevision: ifRevision, dryRun: dryRun)
    }

    /// Has the hooks' process send one message now.
    func testHook(_ name: String) async throws -> HookTestDocument {
        guard try requireHook(name).enabled else {
            throw CodedError(
                .badRequest, "hook \(name) is switched off", hint: "Run: watchboxctl hook edit \(name) --enable",
                object: name)
        }
        try? await unitJobs.settled(UnitName.hooks)
        let client = ControlClient(
            socketPath: paths.hooksSocket, changeTimeout: .seconds(20),
            maximumAnswerBytes: ControlClient.cameraAnswerBytes)
        var attempts = 1
        while true {
            do throws(ControlClientError) {
                return try await client.send(.post, APIPath.hooks(name, "test"), as: HookTestDocument.self)
            } catch .problem(let problem) {
                throw CodedError(problem.code, problem.detail, hint: problem.hint, object: name)
            } catch .unreachable where attempts < Self.testAttempts {
                attempts += 1
            } catch {
                throw CodedError(
                    .unreachable, "the process that reports events to hooks does not answer", why: "\(error)",
                    hint: "Run: systemctl status watchbox-hooks", object: name)
            }
            try await clock.sleep(.milliseconds(200))
        }
    }
}

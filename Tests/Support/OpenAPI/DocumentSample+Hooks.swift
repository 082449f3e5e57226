internal import ControlAPI
internal import ErrorCatalog

extension DocumentSample {
    static var hooks: [DocumentSample] {
        [
            Self(hook), Self(HookListDocument(hooks: [hook])),
            Self(
                HookRequest(
                    kind: "ntfy", url: "https://ntfy.example.net/porch",
                    certificateAuthorityFile: "/etc/watchbox/ca.pem",
                    publicKeyPin: "sha256//AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=", events: ["camera", "health"],
                    cameras: ["front"], isEnabled: true)),
            Self(
                HookTestDocument(
                    name: "phone", isDelivered: false, status: 403, milliseconds: 85, code: .hookRefused,
                    reason: "the receiver answers with status 403", hint: "Check its URL and its token")),
            Self(EventPositionDocument(id: 812)),
        ]
    }

    private static var hook: HookDocument {
        HookDocument(
            name: "phone", kind: "ntfy", url: "https://ntfy.example.net/porch", hasSecret: false, hasToken: true,
            events: ["camera", "health"], cameras: ["front"], certificateAuthorityFile: "/etc/watchbox/ca.pem",
            publicKeyPin: "sha256//AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=", isEnabled: true,
            origin: "watchbox.toml:7",
            state: HookState(
                isFailing: true, queued: 2, delivered: 40, missed: 3, lastDelivered: 1_790_000_000_000_000,
                code: .hookUnreachable, reason: "ntfy.example.net cannot be reached: no route"))
    }
}

public import ControlAPI

/// What `watchboxctl camera rename` says when it is done: what goes on as it is, and what has to follow.
public enum CameraRenameView {
    /// - Parameters:
    ///   - former: the camera as it was.
    ///   - place: where it publishes to; nil: not known.
    public static func lines(
        _ camera: CameraDocument, formerly former: CameraDocument, at place: CameraContext?, style: Style
    ) -> [String] {
        let (old, new) = (former.stream.stream, camera.stream.stream)
        var lines = ["Renamed \(former.id) to \(camera.id)."]
        if old == new {
            lines.append("Its stream is still \(new) at relay and KAS: viewers, tokens and grants go on as they are.")
        } else {
            lines.append("Its stream is \(new) now, no longer \(old). What names \(old) has to follow:")
        }
        if isLearnedAgain(camera) {
            lines.append(
                "Its process trusts the certificate that it is shown first; to pin the one that is shown now: "
                    + "watchboxctl camera edit \(camera.id) --accept-certificate")
        }
        lines = lines.map { style.paint($0, .plain) }
        guard old != new else { return lines }
        let facts = followers(former: old, new, at: place)
        let width = facts.map { DisplayWidth.of($0.0) }.max() ?? 0
        // Beside the message that they belong to.
        return Array(lines.prefix(2)) + Card.facts(facts, style, nameWidth: width) + Array(lines.dropFirst(2))
    }

    private static func followers(
        former: String, _ stream: String, at place: CameraContext?
    ) -> [(String, String)] {
        let quoted = ShellWord.quoted(stream)
        var facts: [(String, String)] = []
        if let command = place?.playCommand(stream) { facts.append(("Viewers", command)) }
        let whose = "--state DIR --subject WHO"
        return facts + [
            ("Tokens", "watchboxctl kas token \(whose) --scope kas.rewrap --stream \(quoted)"),
            ("Box's token", "must be for \(stream) or for *: watchboxctl kas set --token-file FILE"),
            (
                "Grants",
                "watchboxctl kas grant \(whose) --stream \(quoted); "
                    + "watchboxctl kas revoke \(whose) --stream \(ShellWord.quoted(former))"
            ),
            ("Relay", "its publish and play keys, links and forwards for \(former)"),
        ]
    }

    /// A pin that only its process knew is gone with that.
    private static func isLearnedAgain(_ camera: CameraDocument) -> Bool {
        guard camera.settings["pin"] == nil else { return false }
        return ["rtsps:", "onvif:", "https:"].contains { camera.source.hasPrefix($0) }
    }
}

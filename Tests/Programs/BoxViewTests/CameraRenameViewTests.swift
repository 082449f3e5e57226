import ControlAPI
import Testing

@testable import BoxView

/// Letter by letter, as `GoldenTests`.
struct CameraRenameViewTests {
    private static let place = CameraContext(
        relay: Samples.porch.relays.first, keyAccess: Samples.porch.keyAccess)

    private func lines(_ source: String, stream: String) -> String {
        let former = Samples.camera("front", Samples.stream("front", .live))
        var camera = Samples.camera("porch", Samples.stream("porch", .starting))
        camera.stream.stream = stream
        camera.source = source
        return text(
            CameraRenameView.lines(camera, formerly: former, at: Self.place, style: Style(width: 120)))
    }

    @Test func `a stream that keeps its name is all there is to say`() {
        #expect(
            lines("test:", stream: "front") == """
                Renamed front to porch.
                Its stream is still front at relay and KAS: viewers, tokens and grants go on as they are.
                """)
    }

    @Test func `a stream with another name has followers, which are named with their commands`() {
        #expect(
            lines("onvif://192.0.2.7", stream: "porch") == #"""
                Renamed front to porch.
                Its stream is porch now, no longer front. What names front has to follow:
                  Viewers      watchboxctl play rtmps://live.example.net/live/porch --kas https://kas.example.net/kas --kas-token-file FILE
                  Tokens       watchboxctl kas token --state DIR --subject WHO --scope kas.rewrap --stream porch
                  Box's token  must be for porch or for *: watchboxctl kas set --token-file FILE
                  Grants       watchboxctl kas grant --state DIR --subject WHO --stream porch; watchboxctl kas revoke --state DIR --subject WHO --stream front
                  Relay        its publish and play keys, links and forwards for front
                Its process trusts the certificate that it is shown first; to pin the one that is shown now: watchboxctl camera edit porch --accept-certificate
                """#)
    }
}

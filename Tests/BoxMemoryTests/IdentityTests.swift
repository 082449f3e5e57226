import Testing

@testable import BoxMemory

@Suite struct IdentityTests {
    private static let endpoint = "urn:uuid:9b1d0c5e-0000-1000-8000-4419b6a1c2d3"
    private static let front = CameraIdentity(onvifEndpoint: endpoint, serial: "S1", mac: "44:19:b6:a1:c2:d3")

    @Test(arguments: [
        CameraIdentity(onvifEndpoint: endpoint), CameraIdentity(serial: "S1"), CameraIdentity(mac: "44-19-B6-A1-C2-D3"),
        // After a factory reset there is another endpoint reference.
        CameraIdentity(onvifEndpoint: "urn:uuid:other", serial: "S1"),
        // On its other interface.
        CameraIdentity(onvifEndpoint: endpoint, mac: "44:19:b6:a1:c2:ff"),
    ]) func `any part of its identity says that it is the camera`(seen: CameraIdentity) {
        #expect(Self.front.isLike(seen) && seen.isLike(Self.front))
    }

    @Test(arguments: [
        CameraIdentity(), CameraIdentity(serial: "S3"),
        // Cheap makers give the same serial number, or the same endpoint reference, to all.
        CameraIdentity(serial: "S1", mac: "00:00:00:00:00:02"),
        CameraIdentity(onvifEndpoint: endpoint, serial: "S3", mac: "00:00:00:00:00:02"),
        CameraIdentity(serial: "S3", mac: "44:19:b6:a1:c2:d3"),
        CameraIdentity(onvifEndpoint: "urn:uuid:other"),
    ]) func `what contradicts it is another camera`(seen: CameraIdentity) {
        #expect(!Self.front.isLike(seen) && !seen.isLike(Self.front))
        #expect(!CameraIdentity().isLike(seen))
    }
}

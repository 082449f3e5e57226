import Testing

@testable import CameraStore

@Suite struct IdentityTests {
    private static let endpoint = "urn:uuid:9b1d0c5e-0000-1000-8000-4419b6a1c2d3"

    private func add(
        _ id: String, _ identity: CameraIdentity, source: String = "test:", address: String? = nil, grid: Int = 0,
        to store: CameraStore
    ) throws {
        var camera = sample(id, grid: grid)
        camera.identity = identity
        camera.source = source
        camera.address = address
        try store.add(camera)
    }

    @Test(arguments: [
        CameraIdentity(onvifEndpoint: endpoint), CameraIdentity(serial: "S1"), CameraIdentity(mac: "44-19-B6-A1-C2-D3"),
        CameraIdentity(usb: "046d:082d:1"),
        // After a factory reset there is another endpoint reference.
        CameraIdentity(onvifEndpoint: "urn:uuid:other", serial: "S1"),
        // On its other interface.
        CameraIdentity(onvifEndpoint: endpoint, mac: "44:19:b6:a1:c2:ff"),
    ]) func `any part of its identity finds a camera`(seen: CameraIdentity) throws {
        try withStore { store in
            try add(
                "front",
                CameraIdentity(
                    onvifEndpoint: Self.endpoint, serial: "S1", mac: "44:19:b6:a1:c2:d3", usb: "046d:082d:1"),
                to: store)
            try add("other", CameraIdentity(serial: "S2", mac: "00:00:00:00:00:01"), to: store)
            #expect(try store.camera(identifiedBy: seen)?.id == "front")
        }
    }

    @Test(arguments: [
        CameraIdentity(), CameraIdentity(serial: "S3"),
        // Cheap makers give the same serial number, or the same endpoint reference, to all.
        CameraIdentity(serial: "S1", mac: "00:00:00:00:00:02"),
        CameraIdentity(onvifEndpoint: endpoint, serial: "S3", mac: "00:00:00:00:00:02"),
        CameraIdentity(serial: "S3", mac: "44:19:b6:a1:c2:d3"),
        CameraIdentity(onvifEndpoint: "urn:uuid:other", usb: "046d:082d:1"),
    ]) func `what contradicts it is another camera`(seen: CameraIdentity) throws {
        try withStore { store in
            try add(
                "front",
                CameraIdentity(
                    onvifEndpoint: Self.endpoint, serial: "S1", mac: "44:19:b6:a1:c2:d3", usb: "046d:082d:1"),
                to: store)
            try add("blank", CameraIdentity(), to: store)
            #expect(try store.camera(identifiedBy: seen) == nil)
            #expect(try store.found(seen, address: "192.0.2.99") == [])
        }
    }

    @Test func `a camera that changed its address is found again`() throws {
        try withStore { store in
            try add(
                "front", CameraIdentity(serial: "S1"), source: "rtsp://192.0.2.5:554/main?x=192.0.2.5",
                address: "192.0.2.5", to: store)
            let found = try store.found(
                CameraIdentity(onvifEndpoint: Self.endpoint, serial: "S1"), address: "2001:db8::9", port: 8080)
            #expect(found.map(\.id) == ["front"])
            let camera = try #require(try store.camera("front"))
            #expect(camera == found[0])
            #expect(camera.address == "2001:db8::9" && camera.port == 8080 && camera.revision == 2)
            #expect(camera.source == "rtsp://[2001:db8::9]:554/main?x=192.0.2.5")
            #expect(camera.identity == CameraIdentity(onvifEndpoint: Self.endpoint, serial: "S1"))
            // Found where it is: no change.
            #expect(try store.found(CameraIdentity(serial: "S1"), address: "2001:db8::9")[0].revision == 2)
            // Another camera got the old address meanwhile; identity beats address.
            try add("new", CameraIdentity(serial: "S9"), address: "192.0.2.5", grid: 1, to: store)
            #expect(try store.found(CameraIdentity(serial: "S1"), address: "192.0.2.7").map(\.id) == ["front"])
            #expect(try store.camera("front")?.source == "rtsp://192.0.2.7:554/main?x=192.0.2.5")
            #expect(try store.camera("new")?.address == "192.0.2.5")
        }
    }

    @Test func `all channels of a recorder move together`() throws {
        try withStore { store in
            for (index, id) in ["ch1", "ch2"].enumerated() {
                try add(
                    id, CameraIdentity(serial: "NVR"), source: "rtsp://192.0.2.5/\(id)", address: "192.0.2.5",
                    grid: 5 - index, to: store)
            }
            try add("usb", CameraIdentity(usb: "x"), grid: 9, to: store)
            #expect(try store.camera(identifiedBy: CameraIdentity(serial: "NVR"))?.id == "ch2")
            let found = try store.found(CameraIdentity(serial: "NVR"), address: "192.0.2.6")
            #expect(found.map(\.source) == ["rtsp://192.0.2.6/ch2", "rtsp://192.0.2.6/ch1"])
            #expect(try store.camera("usb")?.revision == 1)
        }
    }

    @Test(arguments: [
        ("rtsp://192.0.2.5/x", "192.0.2.5", "rtsp://192.0.2.6/x"),
        ("rtsp://192.0.2.5", "192.0.2.5", "rtsp://192.0.2.6"),
        ("rtsp://192.0.2.55/x", "192.0.2.5", "rtsp://192.0.2.55/x"),
        ("rtsp://cam.local/x", "192.0.2.5", "rtsp://cam.local/x"), ("test:", "192.0.2.5", "test:"),
        ("rtsp://[2001:db8::1]:554/x", "2001:db8::1", "rtsp://192.0.2.6:554/x"),
        ("file:/192.0.2.5", "192.0.2.5", "file:/192.0.2.5"),
    ]) func `only the host of a source is replaced`(source: String, address: String, moved: String) {
        var camera = sample("front")
        camera.source = source
        camera.address = address
        #expect(camera.source(at: "192.0.2.6") == moved)
    }

    @Test func `what discovery says is checked`() throws {
        try withStore { store in
            try add("front", CameraIdentity(serial: "S1"), to: store)
            for address in ["", "a b", "evil@192.0.2.1", "x/../y", "a\n"] {
                #expect(throws: CameraStoreError.self) {
                    try store.found(CameraIdentity(serial: "S1"), address: address)
                }
            }
            #expect(throws: CameraStoreError.self) {
                try store.found(CameraIdentity(serial: "S1", mac: "zz"), address: "192.0.2.1")
            }
            #expect(throws: CameraStoreError.self) {
                try store.found(CameraIdentity(serial: "S1"), address: "192.0.2.1", port: 70_000)
            }
            #expect(try store.camera("front")?.revision == 1)
        }
    }
}

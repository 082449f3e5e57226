internal import GRDB

extension CameraStore {
    /// The camera that this identity belongs to, wherever it is now; the first of the grid when a recorder has several.
    public func camera(identifiedBy identity: CameraIdentity) throws(CameraStoreError) -> Camera? {
        try read { database in Self.alike(try Camera.all(database), identity).first }
    }

    /// A camera was found at an address: it may be another one than before.
    ///
    /// Every camera of this identity gets the address, and its source too when that names the old address. What is new
    /// of the identity is kept. An announcement on the network proves nothing: call this after the camera has
    /// accepted its password.
    ///
    /// - Parameter port: nil: as before.
    /// - Returns: the cameras as they are stored now; none when the identity is unknown.
    @discardableResult
    public func found(
        _ identity: CameraIdentity, address: String, port: Int? = nil
    ) throws(CameraStoreError) -> [Camera] {
        try identity.validate()
        try FieldRules.address(address, "address")
        try FieldRules.number(port, "port", 1...65_535)
        return try write { database in
            try Self.alike(try Camera.all(database), identity).map { camera in
                var moved = camera
                moved.identity = camera.identity.learning(identity)
                moved.source = camera.source(at: address)
                moved.address = address
                moved.port = port ?? camera.port
                return try camera.changed(to: moved, database)
            }
        }
    }

    /// Those that are most surely of this identity.
    private static func alike(_ cameras: [Camera], _ identity: CameraIdentity) -> [Camera] {
        let likenesses = cameras.compactMap { camera in
            camera.identity.likeness(to: identity).map { (camera: camera, likeness: $0) }
        }
        let best = likenesses.map(\.likeness).max()
        return likenesses.filter { $0.likeness == best }.map(\.camera)
    }
}

extension Camera {
    /// The source with another host, when it names the address of before.
    func source(at new: String) -> String {
        guard let address, let start = source.firstRange(of: "://")?.upperBound else { return source }
        let end = source[start...].firstIndex { $0 == "/" || $0 == "?" || $0 == "#" } ?? source.endIndex
        let authority = source[start..<end]
        let old = Self.bracketed(address)
        guard authority.hasPrefix(old) else { return source }
        let port = authority.dropFirst(old.count)
        guard port.isEmpty || port.hasPrefix(":") else { return source }
        return source[..<start] + Self.bracketed(new) + port + source[end...]
    }

    /// IPv6 addresses stand in brackets.
    private static func bracketed(_ address: String) -> String { address.contains(":") ? "[\(address)]" : address }
}

internal import GRDB

extension CameraStore {
    /// Keeps what a camera told of itself. Call this after it has accepted its password: an announcement on the network
    /// proves nothing. Name, source and settings stay; what is not fit to be stored is left out. Nobody changed anything,
    /// so the revision stays.
    ///
    /// - Returns: the camera as it is stored now. Nil: it is gone.
    @discardableResult
    public func learned(_ id: String, _ learned: LearnedCamera) throws(CameraStoreError) -> Camera? {
        let told = learned.cleaned
        return try write { database in
            guard let stored = try Camera.one(id, database) else { return nil }
            var camera = stored
            camera.manufacturer = told.manufacturer ?? stored.manufacturer
            camera.model = told.model ?? stored.model
            camera.firmware = told.firmware ?? stored.firmware
            camera.identity = stored.identity.following(told.identity)
            camera.address = told.address ?? stored.address
            camera.port = told.port ?? stored.port
            let current = try stored.changed(to: camera, isLearned: true, database)
            let known = try StreamProfile.all(of: id, database)
            if let profiles = learned.profiles(of: stored, known: known), profiles != known {
                try StreamProfile.replace(profiles, of: id, database)
            }
            return current
        }
    }
}

extension CameraIdentity {
    /// With what the camera says of itself now. When that is another device, nothing of the former one stays: halves of
    /// two identities would be found as both.
    fileprivate func following(_ told: CameraIdentity) -> CameraIdentity {
        guard !told.isEmpty else { return self }
        let isAnother = !isEmpty && likeness(to: told) == nil && shares(with: told)
        return isAnother ? CameraIdentity().learning(told) : learning(told)
    }

    /// Whether something can be compared at all.
    private func shares(with other: CameraIdentity) -> Bool {
        onvifEndpoint != nil && other.onvifEndpoint != nil || serial != nil && other.serial != nil
            || mac != nil && other.mac != nil
    }
}

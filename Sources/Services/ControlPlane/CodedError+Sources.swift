internal import BoxMemory
internal import ControlClient
internal import CredentialStore
internal import Database
internal import ErrorCatalog
internal import Platform
internal import Systemd

// What the drivers say, with the codes that people see.

extension CodedError {
    /// Any error of a change, as one that says what to do.
    init(of error: any Error) {
        switch error {
        case let error as CodedError: self = error
        case let error as BoxMemoryError: self.init(error)
        case let error as CredentialError: self.init(error)
        case let error as SystemdError: self.init(error)
        case let error as FileFailure: self = error.coded
        default: self.init(.internalFault, "something unexpected happened", why: "\(error)")
        }
    }

    init(_ error: BoxMemoryError) {
        let code: ErrorCode =
            switch error {
            case .invalid: .invalidValue
            case .database(let failure):
                switch failure {
                case .full, .atLimit: .diskFull
                case .readOnly: .readOnly
                case .fromFuture: .databaseFromFuture
                case .damaged: .databaseDamaged
                case .busy: .busy
                case .cannotOpen, .device: .writeFailed
                case .refused: .internalFault
                }
            }
        self.init(code, error.what, why: error.why, hint: error.hint)
    }

    init(_ error: CredentialError) {
        let code: ErrorCode =
            switch error {
            case .invalid: .invalidValue
            case .full: .diskFull
            case .readOnly: .readOnly
            case .damaged, .keyMissing: .missingSecret
            case .encryption, .decryption: .systemManager
            case .unsafeFile, .notInMemory, .system: .writeFailed
            }
        self.init(code, error.what, why: error.why, hint: error.hint)
    }

    init(_ error: SystemdError) {
        self.init(.systemManager, "systemd did not do it", why: "\(error)")
    }
}

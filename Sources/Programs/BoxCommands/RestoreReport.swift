import BoxView
import ControlAPI
import Settings

/// What a restore does, or would do, without a secret.
struct RestoreReport: Codable, Equatable {
    /// An object that a file of this box sets.
    struct Kept: Codable, Equatable {
        var object: String
        /// `watchbox.toml:3`
        var origin: String
        /// The backup says the same.
        var isSame: Bool
    }

    struct Stored: Codable, Equatable {
        /// `camera.front.password`
        var key: String
        /// IDs of cameras of this box that start again with it.
        var restarts: [String]
    }

    /// A secret that has no place here.
    struct Left: Codable, Equatable {
        var key: String
        var why: String
    }

    var schema = "watchbox.restore/1"
    /// Of the box that was backed up.
    var name: String
    /// Seconds since 1970: when.
    var time: Int64
    /// It is done, and not only shown.
    var isDone = false
    var changes: [ConfigurationChange] = []
    var kept: [Kept] = []
    var secrets: [Stored] = []
    /// Objects and secrets that this box has already, and that become others.
    var replaced: [String] = []
    var left: [Left] = []
    /// What else the box had, and what to do about it.
    var notes: [String] = []

    init(name: String, time: Int64) {
        self.name = name
        self.time = time
    }

    /// All that the backup holds is in use afterwards.
    var isWhole: Bool { left.isEmpty && kept.allSatisfy(\.isSame) }

    func lines(_ style: Style) -> [String] {
        var lines = ["Backup of \(name), \(Quantity.date(time))"]
        let diff = ConfigurationDiff(fromGeneration: 0, changes: changes)
        var rest = changes.isEmpty ? ["No object changes."] : []
        rest += secrets.map { secret in
            let action = secret.restarts.isEmpty ? "" : "  → restart-camera " + secret.restarts.joined(separator: ", ")
            return "* \(secret.key) (a secret)\(action)"
        }
        rest += kept.map { kept in
            "= \(kept.object) stays as \(kept.origin) sets it"
                + (kept.isSame ? ", which is the same" : "; the backup has it otherwise: edit that file")
        }
        rest += left.map { "- \($0.key) (a secret) was left out: \($0.why)" }
        if !changes.isEmpty { lines += ConfigurationView.lines(diff, style: style) }
        lines += (rest + notes + [isDone ? "Restored." : "Nothing was changed."]).map { style.paint($0, .plain) }
        return lines
    }
}

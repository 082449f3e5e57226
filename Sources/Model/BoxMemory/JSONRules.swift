internal import Database
internal import Wire

/// What JSON from outside may look like. SQLite's own parser reads it.
enum JSONRules {
    private static let levels = 32

    /// Size and depth, before a parser sees it.
    static func object(_ json: String, _ field: String, limit: Int) throws(BoxMemoryError) {
        guard json.utf8.count <= limit else { throw .invalid(field: field, why: "it has more than \(limit) bytes") }
        guard !json.utf8.contains(0) else { throw .invalid(field: field, why: "it has control characters") }
        do throws(JSONShape.Fault) {
            try JSONShape.check(Array(json.utf8), depth: levels, elements: .max)
        } catch {
            throw .invalid(field: field, why: "it has more than \(levels) levels")
        }
    }

    /// That it is one object, and holds no secret.
    static func check(_ json: String, _ field: String, _ database: DatabaseConnection) throws {
        guard try database.value("SELECT json_valid(?)", [json]) == true,
            try database.value("SELECT json_type(?)", [json]) == "object"
        else { throw BoxMemoryError.invalid(field: field, why: "it is not a JSON object") }
        let keys = try database.values(
            "SELECT DISTINCT lower(key) FROM json_tree(?) WHERE typeof(key) = 'text'", [json], as: String.self)
        if let secret = FieldRules.secretKeys.intersection(keys).min() {
            throw BoxMemoryError.invalid(
                field: "\(field).\(secret)", why: "secrets are not stored here; give it to the credential store")
        }
    }
}

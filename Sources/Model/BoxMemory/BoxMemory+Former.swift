internal import Database

/// Until schema 7 cameras and objects of the configuration were rows here.
extension BoxMemory {
    /// Those rows, as the `store` of a generation: one JSON object of `cameras` and `objects`. Nil when there are none.
    public func formerStore() throws(BoxMemoryError) -> String? {
        try read { database in
            guard try database.hasTable("camera"), try database.hasTable("object"),
                try database.value("SELECT EXISTS (SELECT 1 FROM camera) OR EXISTS (SELECT 1 FROM object)") == true
            else { return nil }
            return try database.value(
                """
                SELECT json_object(
                    'cameras', (SELECT json_group_array(json_object(
                        'id', id, 'uuid', uuid, 'name', name, 'source', source, 'user', user,
                        'isActive', json(iif(is_active, 'true', 'false')), 'gridPosition', grid_position,
                        'added', added, 'settings', json(settings)))
                        FROM (SELECT * FROM camera ORDER BY id)),
                    'objects', (SELECT json_group_array(json_object(
                        'kind', kind, 'name', name, 'settings', json(json)))
                        FROM (SELECT * FROM object ORDER BY kind, name)))
                """)
        }
    }

    /// To be called when a generation that holds them is on the disk.
    public func removeFormerStore() throws(BoxMemoryError) {
        guard try read({ try $0.hasTable("camera") || $0.hasTable("object") }) else { return }
        try write { database in
            try database.execute("DROP TABLE IF EXISTS camera; DROP TABLE IF EXISTS object")
        }
    }
}

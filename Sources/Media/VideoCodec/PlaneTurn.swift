/// Moves the samples of one plane to their new places. Sizes are those of the result, in samples or in pairs of them.
struct PlaneTurn {
    let columns: Int
    let rows: Int
    let from: UnsafeMutableRawPointer
    let fromStride: Int
    let to: UnsafeMutableRawPointer
    let toStride: Int
    /// Going right in the result is going left (or, transposed, up) in the source.
    let isColumnReversed: Bool
    /// Going down in the result is going up (or, transposed, left) in the source.
    let isRowReversed: Bool

    func moveRows() {
        for row in 0..<rows {
            let source = sourceRow(row)
            let target = to + row * toStride
            guard isColumnReversed else {
                target.copyMemory(from: source, byteCount: columns)
                continue
            }
            var column = 0
            while column + 8 <= columns {
                let eight = (source + (columns - column - 8)).loadUnaligned(as: UInt64.self)
                (target + column).storeBytes(of: eight.byteSwapped, as: UInt64.self)
                column += 8
            }
            while column < columns {
                target.storeBytes(
                    of: source.load(fromByteOffset: columns - 1 - column, as: UInt8.self), toByteOffset: column,
                    as: UInt8.self)
                column += 1
            }
        }
    }

    func moveRowsOfPairs() {
        for row in 0..<rows {
            let source = sourceRow(row)
            let target = to + row * toStride
            guard isColumnReversed else {
                target.copyMemory(from: source, byteCount: columns * 2)
                continue
            }
            for column in 0..<columns {
                let pair = (source + (columns - 1 - column) * 2).loadUnaligned(as: UInt16.self)
                (target + column * 2).storeBytes(of: pair, as: UInt16.self)
            }
        }
    }

    private func sourceRow(_ row: Int) -> UnsafeMutableRawPointer {
        from + (isRowReversed ? rows - 1 - row : row) * fromStride
    }

    /// In blocks of 8 by 8, which are turned in registers: byte by byte, memory would be the limit.
    func transpose() {
        let wholeColumns = columns / 8 * 8
        let wholeRows = rows / 8 * 8
        for row in stride(from: 0, to: wholeRows, by: 8) {
            for column in stride(from: 0, to: wholeColumns, by: 8) { transposeBlock(column: column, row: row) }
            transposeSingly(columns: wholeColumns..<columns, rows: row..<(row + 8))
        }
        transposeSingly(columns: 0..<columns, rows: wholeRows..<rows)
    }

    func transposePairs() {
        // A block of the source stays in the cache while it is read across.
        let side = 16
        for firstRow in stride(from: 0, to: rows, by: side) {
            for firstColumn in stride(from: 0, to: columns, by: side) {
                for row in firstRow..<min(firstRow + side, rows) {
                    let source = from + sourceColumn(row) * 2
                    let target = to + row * toStride
                    for column in firstColumn..<min(firstColumn + side, columns) {
                        let pair = (source + sourceRow(ofColumn: column) * fromStride).loadUnaligned(as: UInt16.self)
                        (target + column * 2).storeBytes(of: pair, as: UInt16.self)
                    }
                }
            }
        }
    }

    /// Of the source, where the samples of a row of the result are in one column.
    private func sourceColumn(_ row: Int) -> Int {
        isRowReversed ? rows - 1 - row : row
    }

    private func sourceRow(ofColumn column: Int) -> Int {
        isColumnReversed ? columns - 1 - column : column
    }

    private func transposeSingly(columns range: Range<Int>, rows: Range<Int>) {
        for row in rows {
            let source = from + sourceColumn(row)
            let target = to + row * toStride
            for column in range {
                target.storeBytes(
                    of: source.load(fromByteOffset: sourceRow(ofColumn: column) * fromStride, as: UInt8.self),
                    toByteOffset: column, as: UInt8.self)
            }
        }
    }

    private func transposeBlock(column: Int, row: Int) {
        let left = isRowReversed ? rows - 8 - row : row
        let source = from + left
        let step = isColumnReversed ? -fromStride : fromStride
        let first = source + sourceRow(ofColumn: column) * fromStride
        // Byte i of word k is column `left + i` of the source's row for the result's column `column + k`.
        var a0 = first.loadUnaligned(as: UInt64.self)
        var a1 = (first + step).loadUnaligned(as: UInt64.self)
        var a2 = (first + 2 * step).loadUnaligned(as: UInt64.self)
        var a3 = (first + 3 * step).loadUnaligned(as: UInt64.self)
        var a4 = (first + 4 * step).loadUnaligned(as: UInt64.self)
        var a5 = (first + 5 * step).loadUnaligned(as: UInt64.self)
        var a6 = (first + 6 * step).loadUnaligned(as: UInt64.self)
        var a7 = (first + 7 * step).loadUnaligned(as: UInt64.self)
        Self.exchange(&a0, &a4, by: 32, 0x0000_0000_FFFF_FFFF)
        Self.exchange(&a1, &a5, by: 32, 0x0000_0000_FFFF_FFFF)
        Self.exchange(&a2, &a6, by: 32, 0x0000_0000_FFFF_FFFF)
        Self.exchange(&a3, &a7, by: 32, 0x0000_0000_FFFF_FFFF)
        Self.exchange(&a0, &a2, by: 16, 0x0000_FFFF_0000_FFFF)
        Self.exchange(&a1, &a3, by: 16, 0x0000_FFFF_0000_FFFF)
        Self.exchange(&a4, &a6, by: 16, 0x0000_FFFF_0000_FFFF)
        Self.exchange(&a5, &a7, by: 16, 0x0000_FFFF_0000_FFFF)
        Self.exchange(&a0, &a1, by: 8, 0x00FF_00FF_00FF_00FF)
        Self.exchange(&a2, &a3, by: 8, 0x00FF_00FF_00FF_00FF)
        Self.exchange(&a4, &a5, by: 8, 0x00FF_00FF_00FF_00FF)
        Self.exchange(&a6, &a7, by: 8, 0x00FF_00FF_00FF_00FF)
        // Word i is now column `left + i` of the source: a row of the result.
        let down = isRowReversed ? -toStride : toStride
        let target = to + (isRowReversed ? row + 7 : row) * toStride + column
        target.storeBytes(of: a0, as: UInt64.self)
        (target + down).storeBytes(of: a1, as: UInt64.self)
        (target + 2 * down).storeBytes(of: a2, as: UInt64.self)
        (target + 3 * down).storeBytes(of: a3, as: UInt64.self)
        (target + 4 * down).storeBytes(of: a4, as: UInt64.self)
        (target + 5 * down).storeBytes(of: a5, as: UInt64.self)
        (target + 6 * down).storeBytes(of: a6, as: UInt64.self)
        (target + 7 * down).storeBytes(of: a7, as: UInt64.self)
    }

    /// The upper half of each piece of `low` changes places with the lower half of `high`'s.
    @inline(__always)
    private static func exchange(_ low: inout UInt64, _ high: inout UInt64, by shift: UInt64, _ mask: UInt64) {
        let difference = ((low &>> shift) ^ high) & mask
        high ^= difference
        low ^= difference &<< shift
    }
}

@testable import RTMP

/// Plain hash functions for tests of a layer that has none (FIPS 180-4, RFC 1321, RFC 2104).
enum Hashes {
    static let digests = RTMPDigests(md5: { md5($0) }, hmacSHA256: { hmacSHA256(key: $0, $1) })

    static func hmacSHA256(key: [UInt8], _ message: [UInt8]) -> [UInt8] {
        var block = key.count > 64 ? sha256(key) : key
        block += [UInt8](repeating: 0, count: 64 - block.count)
        let inner = sha256(block.map { $0 ^ 0x36 } + message)
        return sha256(block.map { $0 ^ 0x5C } + inner)
    }

    static func sha256(_ message: [UInt8]) -> [UInt8] {
        var hash: [UInt32] = [
            0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19,
        ]
        let padded = pad(message, lengthIsBigEndian: true)
        var schedule = [UInt32](repeating: 0, count: 64)
        for start in stride(from: 0, to: padded.count, by: 64) {
            for index in 0..<16 {
                schedule[index] = padded[(start + 4 * index)..<(start + 4 * index + 4)].reduce(0) {
                    $0 << 8 | UInt32($1)
                }
            }
            for index in 16..<64 {
                let a = schedule[index - 15]
                let b = schedule[index - 2]
                let s0 = rotateRight(a, 7) ^ rotateRight(a, 18) ^ (a >> 3)
                let s1 = rotateRight(b, 17) ^ rotateRight(b, 19) ^ (b >> 10)
                schedule[index] = schedule[index - 16] &+ s0 &+ schedule[index - 7] &+ s1
            }
            var v = hash
            for index in 0..<64 {
                let s1 = rotateRight(v[4], 6) ^ rotateRight(v[4], 11) ^ rotateRight(v[4], 25)
                let choice = (v[4] & v[5]) ^ (~v[4] & v[6])
                let t1 = v[7] &+ s1 &+ choice &+ sha256Constants[index] &+ schedule[index]
                let s0 = rotateRight(v[0], 2) ^ rotateRight(v[0], 13) ^ rotateRight(v[0], 22)
                let majority = (v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2])
                v = [t1 &+ s0 &+ majority, v[0], v[1], v[2], v[3] &+ t1, v[4], v[5], v[6]]
            }
            for index in 0..<8 { hash[index] = hash[index] &+ v[index] }
        }
        return hash.flatMap { word in (0..<4).map { UInt8(truncatingIfNeeded: word >> UInt32(24 - 8 * $0)) } }
    }

    static func md5(_ message: [UInt8]) -> [UInt8] {
        var hash: [UInt32] = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476]
        let shifts: [UInt32] = [7, 12, 17, 22, 5, 9, 14, 20, 4, 11, 16, 23, 6, 10, 15, 21]
        let padded = pad(message, lengthIsBigEndian: false)
        for start in stride(from: 0, to: padded.count, by: 64) {
            let words = (0..<16).map { word in
                padded[(start + 4 * word)..<(start + 4 * word + 4)].reversed().reduce(UInt32(0)) {
                    $0 << 8 | UInt32($1)
                }
            }
            var (a, b, c, d) = (hash[0], hash[1], hash[2], hash[3])
            for index in 0..<64 {
                let (f, g): (UInt32, Int) =
                    switch index / 16 {
                    case 0: ((b & c) | (~b & d), index)
                    case 1: ((d & b) | (~d & c), (5 * index + 1) % 16)
                    case 2: (b ^ c ^ d, (3 * index + 5) % 16)
                    default: (c ^ (b | ~d), (7 * index) % 16)
                    }
                let sum = f &+ a &+ md5Constants[index] &+ words[g]
                let shift = shifts[index / 16 * 4 + index % 4]
                (a, d, c, b) = (d, c, b, b &+ (sum << shift | sum >> (32 - shift)))
            }
            hash = [hash[0] &+ a, hash[1] &+ b, hash[2] &+ c, hash[3] &+ d]
        }
        return hash.flatMap { word in (0..<4).map { UInt8(truncatingIfNeeded: word >> UInt32(8 * $0)) } }
    }

    static func crc32(_ message: [UInt8]) -> UInt32 {
        var crc = UInt32.max
        for byte in message {
            crc ^= UInt32(byte)
            for _ in 0..<8 { crc = crc & 1 == 0 ? crc >> 1 : (crc >> 1) ^ 0xEDB8_8320 }
        }
        return ~crc
    }

    private static func pad(_ message: [UInt8], lengthIsBigEndian: Bool) -> [UInt8] {
        var padded = message + [0x80]
        while padded.count % 64 != 56 { padded.append(0) }
        let bits = UInt64(message.count) * 8
        let length = (0..<8).map { UInt8(truncatingIfNeeded: bits >> UInt64(8 * $0)) }
        return padded + (lengthIsBigEndian ? length.reversed() : length)
    }

    private static func rotateRight(_ value: UInt32, _ count: UInt32) -> UInt32 {
        value >> count | value << (32 - count)
    }

    /// floor(2^32 × |sin(i + 1)|), RFC 1321 §3.4.
    private static let md5Constants: [UInt32] = [
        0xd76a_a478, 0xe8c7_b756, 0x2420_70db, 0xc1bd_ceee, 0xf57c_0faf, 0x4787_c62a, 0xa830_4613, 0xfd46_9501,
        0x6980_98d8, 0x8b44_f7af, 0xffff_5bb1, 0x895c_d7be, 0x6b90_1122, 0xfd98_7193, 0xa679_438e, 0x49b4_0821,
        0xf61e_2562, 0xc040_b340, 0x265e_5a51, 0xe9b6_c7aa, 0xd62f_105d, 0x0244_1453, 0xd8a1_e681, 0xe7d3_fbc8,
        0x21e1_cde6, 0xc337_07d6, 0xf4d5_0d87, 0x455a_14ed, 0xa9e3_e905, 0xfcef_a3f8, 0x676f_02d9, 0x8d2a_4c8a,
        0xfffa_3942, 0x8771_f681, 0x6d9d_6122, 0xfde5_380c, 0xa4be_ea44, 0x4bde_cfa9, 0xf6bb_4b60, 0xbebf_bc70,
        0x289b_7ec6, 0xeaa1_27fa, 0xd4ef_3085, 0x0488_1d05, 0xd9d4_d039, 0xe6db_99e5, 0x1fa2_7cf8, 0xc4ac_5665,
        0xf429_2244, 0x432a_ff97, 0xab94_23a7, 0xfc93_a039, 0x655b_59c3, 0x8f0c_cc92, 0xffef_f47d, 0x8584_5dd1,
        0x6fa8_7e4f, 0xfe2c_e6e0, 0xa301_4314, 0x4e08_11a1, 0xf753_7e82, 0xbd3a_f235, 0x2ad7_d2bb, 0xeb86_d391,
    ]
    /// Fractional parts of the cube roots of the first 64 primes, FIPS 180-4 §4.2.2.
    private static let sha256Constants: [UInt32] = [
        0x428a_2f98, 0x7137_4491, 0xb5c0_fbcf, 0xe9b5_dba5, 0x3956_c25b, 0x59f1_11f1, 0x923f_82a4, 0xab1c_5ed5,
        0xd807_aa98, 0x1283_5b01, 0x2431_85be, 0x550c_7dc3, 0x72be_5d74, 0x80de_b1fe, 0x9bdc_06a7, 0xc19b_f174,
        0xe49b_69c1, 0xefbe_4786, 0x0fc1_9dc6, 0x240c_a1cc, 0x2de9_2c6f, 0x4a74_84aa, 0x5cb0_a9dc, 0x76f9_88da,
        0x983e_5152, 0xa831_c66d, 0xb003_27c8, 0xbf59_7fc7, 0xc6e0_0bf3, 0xd5a7_9147, 0x06ca_6351, 0x1429_2967,
        0x27b7_0a85, 0x2e1b_2138, 0x4d2c_6dfc, 0x5338_0d13, 0x650a_7354, 0x766a_0abb, 0x81c2_c92e, 0x9272_2c85,
        0xa2bf_e8a1, 0xa81a_664b, 0xc24b_8b70, 0xc76c_51a3, 0xd192_e819, 0xd699_0624, 0xf40e_3585, 0x106a_a070,
        0x19a4_c116, 0x1e37_6c08, 0x2748_774c, 0x34b0_bcb5, 0x391c_0cb3, 0x4ed8_aa4a, 0x5b9c_ca4f, 0x682e_6ff3,
        0x748f_82ee, 0x78a5_636f, 0x84c8_7814, 0x8cc7_0208, 0x90be_fffa, 0xa450_6ceb, 0xbef9_a3f7, 0xc671_78f2,
    ]
}

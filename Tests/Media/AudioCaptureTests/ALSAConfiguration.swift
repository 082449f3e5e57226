import Glibc

/// An asound.conf of the tests' own, with devices that this machine can have without an audio card.
enum ALSAConfiguration {
    /// What the file device gives.
    static let beeps = Beeps(interval: 1)
    static let seconds = 3

    /// Unlinked files, which live as long as the process.
    private static func file(_ bytes: UnsafeRawBufferPointer) -> String {
        var name = Array("/tmp/audio-capture-tests-XXXXXX".utf8CString)
        let descriptor = mkstemp(&name)
        precondition(descriptor >= 0)
        unlink(name)
        var done = 0
        while done < bytes.count {
            let count = write(descriptor, bytes.baseAddress! + done, bytes.count - done)
            precondition(count > 0)
            done += count
        }
        return "/proc/self/fd/\(descriptor)"
    }

    /// Before the first use of libasound in this process: it reads its configuration then.
    static let isInstalled: Bool = {
        let values = (0..<(seconds * 48_000)).map { beeps.value(at: Double($0) / 48_000) }
        let floats = values.withUnsafeBytes { file($0) }
        var text = """
            <confdir:alsa.conf>
            pcm.test_null { type null }
            pcm.test_floats {
                type file slave.pcm test_null file /dev/null infile "\(floats)" format raw
            }
            pcm.test_whole_numbers { type linear slave { pcm test_null format S16_LE } }
            pcm.test_telephone { type mulaw slave { pcm test_null format S16_LE } }
            pcm.test_array {
                type multi
                slaves.a { pcm test_null channels 2 }
                slaves.b { pcm test_null channels 4 }

            """
        for channel in 0..<6 {
            text +=
                "bindings.\(channel) { slave \(channel < 2 ? "a" : "b") channel \(channel < 2 ? channel : channel - 2) }\n"
        }
        text += """
            }
            pcm.test_broken { type no_such_type }

            """
        let path = Array(text.utf8).withUnsafeBytes { file($0) }
        // Others read the environment meanwhile. The first that is added leaves them the old one; a second, elsewhere
        // in the tests, would take it away.
        return setenv("ALSA_CONFIG_PATH", path, 1) == 0
    }()
}

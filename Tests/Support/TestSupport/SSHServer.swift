package import Foundation

/// An OpenSSH server on loopback, with keys that are thrown away: a box that can be logged in to. Nothing of the machine's own
/// ssh, its server or its users' keys is used.
package final class SSHServer {
    package static let program = "/usr/sbin/sshd"
    package static var isInstalled: Bool {
        FileManager.default.isExecutableFile(atPath: program)
            && FileManager.default.isExecutableFile(atPath: "/usr/bin/ssh-keygen")
    }
    /// Why a test is skipped.
    package static let lack: String = "openssh-server is not installed: make test-packages"

    private struct Failure: Error, CustomStringConvertible {
        var description: String
    }

    package let directory: URL
    private var process: pid_t = 0

    /// For `ssh -F`. It has the hosts `box` (this user), `stranger` (nobody), `keyless` (a key that the server does not know) and
    /// `impostor` (a server that is not the one that is known).
    package var configuration: String { directory.appending(path: "ssh_config").path }

    package init() throws {
        directory = FileManager.default.temporaryDirectory.appending(path: "watchbox-ssh-\(UUID().uuidString)")
        try FileManager.default.createDirectory(
            at: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o755])
        for name in ["host", "key", "other"] {
            try run("/usr/bin/ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", file(name)])
        }
        try FileManager.default.copyItem(atPath: file("key.pub"), toPath: file("authorized"))
        // sshd's own, which its package makes at boot.
        if geteuid() == 0, !FileManager.default.fileExists(atPath: "/run/sshd") {
            try FileManager.default.createDirectory(
                atPath: "/run/sshd", withIntermediateDirectories: false, attributes: [.posixPermissions: 0o755])
        }
        let port = try FreePort.take()
        try Data(
            """
            Port \(port)
            ListenAddress 127.0.0.1
            HostKey \(file("host"))
            AuthorizedKeysFile \(file("authorized"))
            StrictModes no
            UsePAM no
            PidFile none
            PermitRootLogin yes
            PasswordAuthentication no
            KbdInteractiveAuthentication no
            AllowStreamLocalForwarding yes

            """.utf8
        ).write(to: directory.appending(path: "sshd_config"))
        let key = try String(contentsOfFile: file("host.pub"), encoding: .utf8).split(separator: " ").prefix(2)
            .joined(separator: " ")
        let other = try String(contentsOfFile: file("other.pub"), encoding: .utf8).split(separator: " ").prefix(2)
            .joined(separator: " ")
        try Data("box \(key)\nimpostor \(other)\n".utf8).write(to: directory.appending(path: "known_hosts"))
        func host(_ name: String, user: String = NSUserName(), key: String = "key", alias: String = "box") -> String {
            """
            Host \(name)
                User \(user)
                IdentityFile \(file(key))
                HostKeyAlias \(alias)

            """
        }
        let common = """
            Host *
                HostName 127.0.0.1
                Port \(port)
                IdentitiesOnly yes
                IdentityAgent none
                UserKnownHostsFile \(file("known_hosts"))
                GlobalKnownHostsFile /dev/null
                StrictHostKeyChecking yes
                UpdateHostKeys no

            """
        let hosts = [
            host("box"), host("stranger", user: "nobody"), host("keyless", key: "other"),
            host("impostor", alias: "impostor"),
        ]
        try Data((hosts.joined() + common).utf8).write(to: directory.appending(path: "ssh_config"))
        process = try start([Self.program, "-D", "-e", "-f", file("sshd_config")])
        try waitUntilListening()
    }

    private func file(_ name: String) -> String { directory.appending(path: name).path }

    /// Looks at what it says until it listens.
    private func waitUntilListening() throws {
        while true {
            let text = (try? String(contentsOfFile: file("log"), encoding: .utf8)) ?? ""
            if text.contains("Server listening on") { return }
            guard waitpid(process, nil, WNOHANG) == 0 else { throw Failure(description: "sshd did not start: \(text)") }
            usleep(10_000)
        }
    }

    /// Not by Foundation's `Process`: sshd closes all descriptors that it did not open, and `Process` takes that for its end, waits for
    /// it, and notices the end of no other program meanwhile.
    private func start(_ arguments: [String]) throws -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0)
        // A file, not a pipe: nobody has to empty it.
        posix_spawn_file_actions_addopen(&actions, 2, file("log"), O_WRONLY | O_CREAT | O_APPEND, 0o600)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        var pointers: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) } + [nil]
        defer { for pointer in pointers { free(pointer) } }
        var child: pid_t = 0
        let failure = posix_spawn(&child, arguments[0], &actions, &attributes, &pointers, environ)
        guard failure == 0 else { throw Failure(description: "sshd does not start: \(failure)") }
        return child
    }

    private func run(_ path: String, _ arguments: [String]) throws {
        let process = Process()
        process.executableURL = URL(filePath: path)
        process.arguments = arguments
        process.standardInput = FileHandle.nullDevice
        try process.run()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw Failure(description: "\(path) failed") }
    }

    package func stop() {
        // Not asked twice: it ends with its connections, which end by themselves.
        kill(process, SIGKILL)
        while waitpid(process, nil, 0) < 0, errno == EINTR {}
        try? FileManager.default.removeItem(at: directory)
    }
}

import Foundation
import Platform
import Testing

@testable import BoxReadings
@testable import HealthMonitor

struct ReadingTests {
    @Test func `a healthy board is read as such`() throws {
        let tree = try FixtureTree(healthyBoard)
        #expect(PowerReading.read(tree.box) == PowerReading(alarm: false, throttled: nil))
        #expect(HeatReading.read(tree.box) == HeatReading(celsius: 51.234, zone: "cpu-thermal"))
        #expect(
            WatchdogReading.read(tree.box)
                == WatchdogReading(
                    isPresent: true, state: "active", timeoutSeconds: 14, bootStatus: 0,
                    board: "Raspberry Pi 4 Model B Rev 1.5", configuredSeconds: 14))
        #expect(
            PressureReading.read(tree.box)
                == PressureReading(memory: 0.0125, processor: 0.125, storage: 0, killedForMemory: 0))
        #expect(
            NetworkReading.read(tree.box)
                == NetworkReading(
                    interfaces: [.init(name: "eth0", hasCarrier: true, addresses: ["192.168.1.5"])],
                    gateway: .init(address: "192.168.1.1", interface: "eth0", neighbour: .known),
                    defaultInterface: "eth0",
                    addressCount: 1)
        )
        #expect(TaskReading.read(tree.paths) == TaskReading(seesOthers: true, waiting: []))
    }

    @Test func `an empty machine is read as nothing, not as fine`() throws {
        let tree = try FixtureTree()
        #expect(PowerReading.read(tree.box) == PowerReading())
        #expect(HeatReading.read(tree.box) == HeatReading())
        #expect(WatchdogReading.read(tree.box) == WatchdogReading())
        #expect(PressureReading.read(tree.box) == PressureReading())
        #expect(NetworkReading.read(tree.box) == NetworkReading())
        #expect(CardReading.read(tree.paths) == CardReading())
        #expect(MountReading.read(tree.paths) == MountReading())
        #expect(!TaskReading.read(tree.paths).seesOthers)
    }

    @Test(arguments: [("50005", 0x50005), ("0x50000", 0x50000), ("0", 0)])
    func `the firmware's word is hexadecimal with or without 0x`(text: String, word: UInt32) throws {
        let tree = try FixtureTree(["sys/devices/platform/soc/soc:firmware/get_throttled": "\(text)\n"])
        #expect(PowerReading.read(tree.box).throttled == word)
    }

    @Test func `the hottest zone counts, and nonsense does not`() throws {
        let tree = try FixtureTree([
            "sys/class/thermal/thermal_zone0/temp": "40000\n",
            "sys/class/thermal/thermal_zone1/temp": "-273200\n",
            "sys/class/thermal/thermal_zone2/temp": "83500\n",
            "sys/class/thermal/thermal_zone2/type": "gpu-thermal\n",
            "sys/class/thermal/cooling_device0/temp": "99000\n",
        ])
        #expect(HeatReading.read(tree.box) == HeatReading(celsius: 83.5, zone: "gpu-thermal"))
    }

    @Test func `eMMC reports the worse of its two kinds of cells`() throws {
        let tree = try FixtureTree([
            "sys/block/mmcblk0/device/life_time": "0x02 0x0a\n", "sys/block/mmcblk0/device/pre_eol_info": "0x02\n",
            "sys/block/mmcblk0/device/type": "MMC\n", "sys/block/mmcblk0boot0/device/type": "MMC\n",
            "sys/block/mmcblk1/device/type": "SD\n", "sys/block/sda/device/type": "0\n",
        ])
        #expect(
            CardReading.read(tree.paths).cards == [
                .init(name: "mmcblk0", type: "MMC", lifeTime: 10, preEndOfLife: 2),
                .init(name: "mmcblk1", type: "SD", lifeTime: nil, preEndOfLife: nil),
            ])
    }

    @Test(arguments: [
        "", "some", "some avg60=", "some avg60=x", "full avg60=1.0", "some avg60=101.0", "some avg60=nan",
    ])
    func `pressure that is not understood is not known`(text: String) {
        #expect(PressureReading.someAverage60(text) == nil)
    }

    @Test func `lack of memory is found in the groups of our units, at any depth`() throws {
        let group = "sys/fs/cgroup/watchbox.slice/watchbox-cameras.slice"
        let tree = try FixtureTree([
            "\(group)/watchbox-camera@front.service/memory.events":
                "low 0\nhigh 9\nmax 70\noom 3\noom_kill 2\noom_group_kill 0\n",
            "sys/fs/cgroup/system.slice/watchbox-relay.service/memory.events": "oom_kill 0\n",
            "sys/fs/cgroup/system.slice/ssh.service/memory.events": "oom_kill 9\n",
        ])
        #expect(
            GroupReading.read(tree.paths).units == [
                "watchbox-camera@front.service": .init(killed: 2, atOwnLimit: 3), "watchbox-relay.service": .init(),
            ])
        #expect(GroupReading.read(tree.paths).slice == nil)
        try tree.write("sys/fs/cgroup/watchbox.slice/memory.events", "oom 4\noom_kill 3\n")
        #expect(GroupReading.read(tree.paths).slice == .init(killed: 3, atOwnLimit: 4))
    }

    @Test func `a process in state D is reported with its unit, a kernel thread is not`() throws {
        let zeroes = "0 0 0 0"
        let tree = try FixtureTree([
            "proc/1/stat": "1 (systemd) S 0 1 1 0 -1 4194560 \(zeroes) 10 20 0 0 20 0 1 0 5",
            "proc/70/stat": "70 (kworker/u8:1) D 2 0 0 0 -1 2097152 \(zeroes) 0 5 0 0 20 0 1 0 30",
            "proc/812/stat": "812 (watch) box (x)) D 1 812 812 0 -1 4194304 \(zeroes) 7 8 0 0 20 0 1 0 4711",
            "proc/812/schedstat": "123456 789 42\n",
            "proc/812/cgroup": "0::/watchbox.slice/watchbox-camera@front.service\n",
            "proc/900/stat": "900 (sleep) S 1 900 900 0 -1 4194304 \(zeroes) 0 0 0 0 20 0 1 0 4800",
            "proc/901/stat": "901 (broken",
        ])
        #expect(
            TaskReading.read(tree.paths).waiting == [
                .init(
                    processIdentifier: 812, name: "watch) box (x)", startTime: 4711, slices: 42,
                    unit: "watchbox-camera@front.service")
            ])
    }

    @Test func `mountinfo is read with escapes, optional fields and both kinds of read-only`() throws {
        let tree = try FixtureTree()
        try tree.write(
            "proc/self/mountinfo",
            """
            22 1 179:2 / / ro,relatime shared:1 master:2 - ext4 /dev/mmcblk0p2 rw,errors=remount-ro
            30 22 179:3 / /mnt/my\\040data rw - ext4 /dev/mmcblk0p3 ro
            31 22 0:9 / \(tree.root)/data rw,noatime - tmpfs tmpfs rw,ro_is_no_option
            nonsense
            """)
        let reading = MountReading.read(tree.paths)
        #expect(reading.root?.isReadOnly == true)
        #expect(reading.root?.isFileSystemReadOnly == false)
        #expect(reading.data?.point == "\(tree.root)/data")
        #expect(reading.data?.isFileSystemReadOnly == false)
        let spaced = Mount(line: "30 22 179:3 / /mnt/my\\040data rw - ext4 /dev/mmcblk0p3 ro")
        #expect(spaced?.point == "/mnt/my data")
        #expect(spaced?.isFileSystemReadOnly == true)
    }

    @Test func `a mount covers what is below it, and nothing beside it`() throws {
        let mounts = try [
            "1 0 8:1 / / rw - ext4 a rw", "2 1 8:2 / /var rw - ext4 b rw", "3 1 8:3 / /var rw - ext4 c rw",
        ]
        .map { try #require(Mount(line: $0)) }
        #expect(MountReading.mount(of: "/var/lib/watchbox", in: mounts)?.source == "c")
        #expect(MountReading.mount(of: "/variable", in: mounts)?.source == "a")
        #expect(MountReading.mount(of: "/var", in: mounts)?.source == "c")
    }

    @Test func `the canary is written over and read back, always as long`() throws {
        let tree = try FixtureTree(["state/canary": String(repeating: "of an older version ", count: 5)])
        for _ in 0..<20 {
            #expect(CanaryReading.read(tree.paths).failure == nil)
            #expect(try tree.text("state/canary").utf8.count == 32)
        }
        // In place: a file that was emptied first would need its block again, which a full disk does not have.
        let path = "\(tree.root)/state/canary"
        let before = try FileManager.default.attributesOfItem(atPath: path)[.systemFileNumber] as? Int
        #expect(CanaryReading.read(tree.paths).failure == nil)
        #expect(try FileManager.default.attributesOfItem(atPath: path)[.systemFileNumber] as? Int == before)
        try tree.remove("state")
        let failed = CanaryReading.read(tree.paths)
        #expect(failed.call == "open")
        #expect(failed.failure != nil)
    }

    @Test func `the file system of the tests has a size`() throws {
        let tree = try FixtureTree()
        let disk = try #require(ProbeReader.disk(tree.paths))
        #expect(disk.sizeBytes > 0)
        #expect((0...1).contains(disk.blocksUsed))
        try tree.remove("data")
        try tree.remove("state")
        #expect(ProbeReader.disk(tree.paths) == nil)
    }

    @Test func `this kernel answers whether its clock is synchronised, or refuses`() async {
        let reading = await ClockAsker(nil).read(KernelClock())
        #expect(reading.isSynchronised != nil || reading.source.contains("refused"))
        #expect(reading.instant.uptime > 0)
    }

    @Test func `addresses of an interface are its own and global`() throws {
        var board = healthyBoard
        board["sys/class/net/wlan0/type"] = "1\n"
        board["sys/class/net/wlan0/device/uevent"] = ""
        board["sys/class/net/wlan0/carrier"] = "0\n"
        board["sys/class/net/docker0/type"] = "1\n"
        board["sys/class/net/docker0/bridge/id"] = ""
        board["proc/net/fib_trie"] = """
               |-- 127.0.0.1
                  /32 host LOCAL
               |-- 169.254.7.8
                  /32 host LOCAL
               |-- 10.9.9.9
                  /32 host LOCAL
               |-- 300.1.1.1
                  /32 host LOCAL
            """
        board["proc/net/if_inet6"] = """
            20010db8000000000000000000000005 02 40 00 80     eth0
            fe800000000000000000000000000001 02 40 20 80     eth0
            00000000000000000000000000000001 01 80 10 80       lo
            """
        let tree = try FixtureTree(board)
        let reading = NetworkReading.read(tree.box)
        #expect(
            reading.interfaces == [
                .init(name: "eth0", hasCarrier: true, addresses: ["2001:0db8:0000:0000:0000:0000:0000:0005"]),
                .init(name: "wlan0", hasCarrier: false),
            ])
    }

    @Test(arguments: [("0x2", NetworkReading.Neighbour.known), ("0x0", .silent), ("0x6", .known)])
    func `a neighbour is known when its hardware address is`(flags: String, expected: NetworkReading.Neighbour) {
        let text = "IP address HW type\n192.168.1.1 0x1 \(flags) 00:00:00:00:00:00 * eth0\n"
        #expect(NetworkReading.neighbour(text, address: "192.168.1.1", interface: "eth0") == expected)
        #expect(NetworkReading.neighbour(text, address: "192.168.1.1", interface: "wlan0") == .unasked)
        #expect(NetworkReading.neighbour(text, address: "192.168.1.10", interface: "eth0") == .unasked)
    }

    @Test func `of two default routes the one with the lower metric is asked`() throws {
        var board = healthyBoard
        board["proc/net/route"] = """
            Iface Destination Gateway Flags RefCnt Use Metric Mask MTU Window IRTT
            wlan0 00000000 0102A8C0 0003 0 0 600 00000000 0 0 0
            eth0 00000000 0101A8C0 0003 0 0 100 00000000 0 0 0
            eth1 00000000 0109A8C0 0203 0 0 1 00000000 0 0 0
            short 0
            """
        let tree = try FixtureTree(board)
        #expect(NetworkReading.read(tree.box).gateway?.address == "192.168.1.1")
    }

    @Test func `an IPv6 default route is one`() {
        let zero = String(repeating: "0", count: 32)
        let line = { (flags: String, device: String) in
            "\(zero) 00 \(zero) 00 fe800000000000000000000000000001 00000400 00000001 00000000 \(flags)     \(device)"
        }
        #expect(NetworkReading.defaultIPv6Interface(line("00000003", "eth0")) == "eth0")
        #expect(NetworkReading.defaultIPv6Interface(line("00200200", "lo")) == nil)
        #expect(NetworkReading.defaultIPv6Interface(line("00000200", "eth0")) == nil)
    }

    @Test func `routes of both families are read`() {
        let six =
            "00000000000000000000000000000000 00 00000000000000000000000000000000 00 fe800000000000000000000000000001 00000400 00000001 00000000 00000003     wlan0\n"
        #expect(NetworkReading.defaultIPv6Interface(six) == "wlan0")
        #expect(NetworkReading.defaultIPv6Interface(six.replacing("wlan0", with: "lo")) == nil)
        #expect(
            NetworkReading.globalIPv6Addresses(
                "fe800000000000000000000000000001 02 40 20 80 eth0\n20010db8000000000000000000000001 02 40 00 80 eth0\n"
            ).count == 1)
        #expect(NetworkReading.defaultIPv6Interface("") == nil && IPv4Route.all("").isEmpty)
    }

    @Test func `any bytes in any file are read without a trap`() throws {
        var random = SystemRandomNumberGenerator()
        for _ in 0..<40 {
            let tree = try FixtureTree(
                healthyBoard.mapValues { text in
                    var bytes = Array(text.utf8)
                    for _ in 0..<3 where !bytes.isEmpty {
                        bytes[Int.random(in: bytes.indices, using: &random)] = UInt8.random(in: 0...255, using: &random)
                    }
                    if Bool.random(using: &random) { bytes = Array(bytes.prefix(Int.random(in: 0...40))) }
                    return String(decoding: bytes, as: UTF8.self)
                })
            _ = PowerReading.read(tree.box)
            _ = HeatReading.read(tree.box)
            _ = WatchdogReading.read(tree.box)
            _ = PressureReading.read(tree.box)
            _ = TaskReading.read(tree.paths)
            _ = MountReading.read(tree.paths)
            let network = NetworkReading.read(tree.box)
            #expect(network.interfaces.count <= 16)
        }
    }
}

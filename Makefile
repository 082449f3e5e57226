# WatchBox. `make help` lists what there is; README.md says what it is for.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

SWIFT ?= swift
SOURCE ?=
SECONDS_OF_DEMO ?= 10
STRICT ?=
QUICK ?=
DESTDIR ?=
PREFIX ?= /usr
ARCHITECTURE ?= $(shell dpkg --print-architecture)
SWIFT_SDK ?=
BOARD ?=

BUILD_PACKAGES := git ca-certificates g++ pkg-config libavcodec-dev libavformat-dev libavutil-dev libswscale-dev libswresample-dev \
	libssl-dev libcurl4-openssl-dev zlib1g-dev libsystemd-dev libsqlite3-dev libv4l-dev libasound2-dev libxml2-dev
TEST_PACKAGES := ffmpeg grub-common nginx libnginx-mod-rtmp rtmpdump openssl curl procps python3 python3-venv mmdebstrap debian-archive-keyring \
	iproute2 util-linux openssh-client openssh-server python3-gi gir1.2-gst-rtsp-server-1.0 gstreamer1.0-rtsp \
	gstreamer1.0-plugins-base gstreamer1.0-plugins-good gstreamer1.0-plugins-bad gstreamer1.0-plugins-ugly gstreamer1.0-libav
VM_PACKAGES := qemu-system-x86 mmdebstrap debian-archive-keyring kmod cpio e2fsprogs xz-utils make gcc binutils util-linux iproute2 \
	python3 ffmpeg
LIBCAMERA_PACKAGES := g++ pkg-config libcamera-dev
DEB_PACKAGES := dpkg-dev binutils lintian python3
IMAGE_PACKAGES := mmdebstrap debian-archive-keyring erofs-utils cryptsetup-bin genimage mtools dosfstools e2fsprogs grub-common \
	squashfs-tools rauc openssl fdisk device-tree-compiler python3
CROSS_PACKAGES := git mmdebstrap debian-archive-keyring bubblewrap
ARM64_PACKAGES := $(CROSS_PACKAGES) qemu-user-static binutils-aarch64-linux-gnu
# The machines for images of arm64; those for this machine's own are among the packages below.
BOARD_PACKAGES := qemu-system-arm qemu-efi-aarch64
IMAGE_TEST_PACKAGES := $(if $(filter arm64,$(shell dpkg --print-architecture)),$(BOARD_PACKAGES),qemu-system-x86 ovmf) openssh-client mtools dosfstools grub-common \
	rauc squashfs-tools
BENCH_PACKAGES := ffmpeg gcc libssl-dev openssl time libnginx-mod-rtmp nginx python3 mmdebstrap debian-archive-keyring iproute2 util-linux \
	python3-gi gir1.2-gst-rtsp-server-1.0 gstreamer1.0-rtsp gstreamer1.0-plugins-base gstreamer1.0-plugins-good gstreamer1.0-plugins-ugly

.PHONY: help build release demo check test test-systemd test-vm mutants sanitize bench soak lint format install deb test-deb trixie deb-trixie \
	oldest-swift libcamera libcamera-trixie libcamera-arm64 libcamera-packages arm64 arm64-check deb-arm64 arm64-runner image test-image clean toolchain arm64-toolchain trixie-toolchain build-packages test-packages bench-packages vm-packages deb-packages arm64-packages cross-packages image-packages \
	image-test-packages flashed-packages board-packages python-peers

help:  ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: toolchain build-packages  ## debug build of everything
	$(SWIFT) build

release: toolchain build-packages  ## optimised programs with the Swift runtime linked in, in .build/release
	$(SWIFT) build -c release --static-swift-stdlib

demo: release  ## the main job: camera, relay, KAS, viewer on loopback; report in demo-out/ (SOURCE=file.mp4 for a file)
	.build/release/watchbox-demo --programs .build/release --output demo-out --seconds $(SECONDS_OF_DEMO) \
		$(if $(SOURCE),--source '$(SOURCE)')

check: toolchain build-packages lint  ## before a commit: style, layers, debug build, unit and dialogue tests; under 4 minutes after a build
	$(SWIFT) build --build-tests --explicit-target-dependency-import-check error
	SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH=8 .build/debug/watchboxPackageTests.xctest --testing-library swift-testing \
		--skip "$$(python3 Tests/Rigs/gate/parts.py)" | sed -e '/^✔ Test run/b' -e '/^\(◇\|↳\|✔\)/d'

test: toolchain build-packages test-packages vm-packages libcamera-packages flashed-packages python-peers  ## what CI runs: style, builds without warnings, all tests, third-party peers
	Tests/Rigs/gate/run --swift $(SWIFT) $(if $(STRICT),--strict)

test-systemd: toolchain build-packages test-packages  ## of these, the real units and programs under a real systemd, in a box of namespaces
	Tests/Rigs/gate/run --swift $(SWIFT) units boxes

test-vm: toolchain build-packages vm-packages libcamera-packages  ## of these, cameras, a hardware encoder and their faults, in a QEMU guest
	Tests/Rigs/gate/run --swift $(SWIFT) capture

mutants: toolchain build-packages test-packages python-peers  ## would a test notice? a hundred faults, each switched on alone (an hour, on demand)
	Tests/Rigs/mutants/run --swift $(SWIFT)

sanitize: toolchain build-packages test-packages python-peers  ## unit and socket tests under Thread and Address Sanitizer (an hour at first, on demand)
	Tests/Rigs/sanitize/run --swift $(SWIFT)

bench: release bench-packages vm-packages  ## speed against peers measured in the same run, as ratios (QUICK=1: a quick look)
	cd Benchmarks && $(SWIFT) build -c release --product SealingRate
	SWIFT='$(SWIFT)' QUICK='$(QUICK)' Tests/Rigs/bench/all

soak: release bench-packages  ## ten minutes of players that come and go: memory and descriptors stay as they are
	Tests/Rigs/bench/run soak

lint: toolchain  ## style and layer rules
	$(SWIFT) format lint --strict --recursive --parallel Package.swift Sources Tests Benchmarks/Package.swift Benchmarks/Benchmarks Benchmarks/Sources
	Tests/Rigs/check-layers

format: toolchain  ## rewrite the sources in the project's style
	$(SWIFT) format --in-place --recursive --parallel Package.swift Sources Tests Benchmarks/Package.swift Benchmarks/Benchmarks Benchmarks/Sources

install: release  ## programs, units, manual and completions into $(DESTDIR)
	packaging/stage --programs .build/release '$(DESTDIR)' '$(PREFIX)'

# One for each libcamera: its binary interface is another one in each release.
libcamera: libcamera-packages  ## the helper for cameras at a ribbon cable (CSI), for this machine's libcamera, in .build/libcamera
	packaging/build-libcamera .build/libcamera

deb: release libcamera deb-packages  ## Debian packages for this machine's release and architecture, in .build/deb
	packaging/build-deb --libcamera .build/libcamera .build/deb

test-deb: $(if $(filter trixie,$(RELEASE)),trixie deb-packages,deb) test-packages  ## of these: install on a clean Debian, publish, upgrade, remove, purge (RELEASE=trixie: those for Debian 13)
	$(if $(filter-out trixie $(shell . /etc/os-release && echo $$VERSION_CODENAME),$(RELEASE)),$(error RELEASE is trixie, or this machine's own))
	Tests/Rigs/packages/package-tests $(if $(filter trixie,$(RELEASE)),--programs $(TRIXIE_PROGRAMS) --release trixie --run .cross/run-amd64)

# Into folders of their own, so that they and the native build leave each other alone.
CROSS_BUILD = .cross/swift build --swift-sdks-path "$(CURDIR)/.cross/sdks" --swift-sdk watchbox-trixie-$(1)
TRIXIE_BUILD = $(call CROSS_BUILD,amd64) --scratch-path .build-trixie
TRIXIE_PROGRAMS := .build-trixie/x86_64-pc-linux-gnu/release

CROSS_LIBCAMERA = packaging/build-libcamera --sysroot .cross/sysroot-$(1) --compiler "$$(dirname "$$(command -v $(SWIFT))")/clang++" --target

libcamera-trixie: trixie-toolchain
	$(call CROSS_LIBCAMERA,amd64) x86_64-linux-gnu .build-trixie/libcamera

libcamera-arm64: arm64-toolchain
	$(if $(SWIFT_SDK),,$(call CROSS_LIBCAMERA,arm64) aarch64-linux-gnu .build-arm64/libcamera)

trixie: trixie-toolchain  ## the programs for Debian 13 (amd64), built on a machine with Debian 12 or 13, with Swift 6.2
	$(TRIXIE_BUILD) -c release --static-swift-stdlib

deb-trixie: trixie libcamera-trixie deb-packages  ## Debian packages of them, in .build/deb
	packaging/build-deb --programs $(TRIXIE_PROGRAMS) --libcamera .build-trixie/libcamera --release trixie --run .cross/run-amd64 .build/deb

# A debug build: what a compiler takes does not depend on how much it optimises. Whether it takes the tests, `make arm64-check` shows.
oldest-swift: trixie-toolchain libcamera-trixie  ## do all programs build with Swift 6.2 (the oldest, from Debian unstable), and with Debian 13's libraries?
	.cross/swift --version
	$(TRIXIE_BUILD) -debug-info-format none --disable-index-store --explicit-target-dependency-import-check error

# SWIFT_SDK: an installed Swift SDK in place of ours.
ARM64_BUILD = $(if $(SWIFT_SDK),$(SWIFT) build --swift-sdk $(SWIFT_SDK),$(call CROSS_BUILD,arm64)) --scratch-path .build-arm64
# What runs arm64 programs here.
ARM64_RUN ?= $(if $(SWIFT_SDK),,.cross/run-arm64)
ARM64_PROGRAMS := .build-arm64/aarch64-unknown-linux-gnu

arm64: arm64-toolchain  ## the programs for Debian 13 and Raspberry Pi OS 13 (arm64), built on this machine (SWIFT_SDK=NAME: with an SDK of yours)
	$(ARM64_BUILD) -c release --static-swift-stdlib

# Optimised and testable, as in `make test`: under qemu-user, what is not optimised takes hours.
arm64-check: arm64-runner arm64-toolchain  ## the same, tested under qemu-user: unit and dialogue tests, and the main chain
	$(ARM64_BUILD)/tested -c release -Xswiftc -enable-testing --build-tests
	Tests/Rigs/arm64/check --programs .build-arm64/tested/$(notdir $(ARM64_PROGRAMS))/release --run '$(ARM64_RUN)'

deb-arm64: arm64-runner arm64 libcamera-arm64 deb-packages  ## Debian packages of them, in .build/deb
	packaging/build-deb --programs $(ARM64_PROGRAMS)/release $(if $(SWIFT_SDK),,--libcamera .build-arm64/libcamera) --architecture arm64 --release trixie --run '$(ARM64_RUN)' --strip aarch64-linux-gnu-strip \
		.build/deb

arm64-toolchain: $(if $(SWIFT_SDK),toolchain,arm64-packages)
	$(if $(SWIFT_SDK),,packaging/cross-toolchain .cross arm64)

trixie-toolchain: cross-packages
	packaging/cross-toolchain .cross amd64

# Before an hour of building.
arm64-runner:
	@[ -n '$(ARM64_RUN)' ] || { echo "make: arm64 programs have to run here, and ARM64_RUN does not say how" >&2; \
		echo "Next: make $(MAKECMDGOALS) SWIFT_SDK=$(SWIFT_SDK) ARM64_RUN='qemu-aarch64-static -L ROOT-OF-THAT-SDK'" >&2; exit 1; }

image: image-packages  ## a disk image that a box starts from, and an update bundle, of the packages in .build/deb (ARCHITECTURE=arm64: for Raspberry Pis, too)
	packaging/image/make-image --architecture $(ARCHITECTURE) $(if $(RELEASE),--release $(RELEASE)) .build/image

test-image: image-packages image-test-packages board-packages  ## of it: first start, adoption, updates, power cuts, reset, in QEMU (on demand; BOARD=arm64, BOARD=pi3)
	Tests/Rigs/image/image-tests $(if $(BOARD),--board $(BOARD))

# What a test that was killed left mounted is no part of what was built.
clean:  ## remove what was built
	awk -v here='$(CURDIR)/.build/' 'index($$2, here) == 1 { print $$2 }' /proc/mounts | sort -r \
		| while IFS= read -r mount; do mount --make-private "$$mount" && umount --lazy "$$mount"; done
	rm -rf --one-file-system .build .build-arm64 .build-trixie demo-out Benchmarks/.build

toolchain:
	@Tests/Rigs/require-swift $(SWIFT)

build-packages:
	@Tests/Rigs/require-debian $(BUILD_PACKAGES)

libcamera-packages:
	@Tests/Rigs/require-debian $(LIBCAMERA_PACKAGES)

test-packages:
	@Tests/Rigs/require-debian $(TEST_PACKAGES)

# A machine that cannot have QEMU says so in one line when the guest is asked for.
vm-packages:
	@Tests/Rigs/require-debian $(VM_PACKAGES) || true

# The same of images.
flashed-packages:
	@Tests/Rigs/require-debian $(DEB_PACKAGES) $(IMAGE_PACKAGES) $(IMAGE_TEST_PACKAGES) $(CROSS_PACKAGES) || true

deb-packages:
	@Tests/Rigs/require-debian $(DEB_PACKAGES)

arm64-packages:
	@Tests/Rigs/require-debian $(ARM64_PACKAGES)

cross-packages:
	@Tests/Rigs/require-debian $(CROSS_PACKAGES)

image-packages:
	@Tests/Rigs/require-debian $(IMAGE_PACKAGES) $(if $(filter $(ARCHITECTURE),$(shell dpkg --print-architecture)),,qemu-user-static arch-test)

image-test-packages:
	@Tests/Rigs/require-debian $(IMAGE_TEST_PACKAGES)

board-packages:
	@Tests/Rigs/require-debian $(BOARD_PACKAGES)

bench-packages:
	@Tests/Rigs/require-debian $(BENCH_PACKAGES)

# From PyPI: an independent NanoTDF implementation, and an FFmpeg that speaks enhanced RTMP. Without one of them the tests
# that need it say that they were skipped.
python-peers:
	@Tests/Rigs/require-python-peers

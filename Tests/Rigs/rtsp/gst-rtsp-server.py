#!/usr/bin/python3
"""A well-behaved RTSP camera on gst-rtsp-server: RTP over TCP, UDP and, if asked, multicast; loopback only.

    gst-rtsp-server.py --h264 H264.mp4 --h265 H265.mp4 [--port N] [--auth USER:PASSWORD] [--until-eof]

    /h264   H.264 and AAC, nothing encoded                  /h264v  H.264 only
    /h265   H.265 only                                      /g711   H.264 and an A-law tone (/g711u: mu-law)
    /mjpeg  MJPEG 640x360, 10 frames a second, live         /mjpeg-wide  2560x1440, 2 a second
    /opus   H.264 and Opus in stereo                        /g726   H.264 and G.726 (gstreamer1.0-libav)

Port 0 (the default) takes any free one. --auth demands Digest (MD5, no qop). --multicast adds 239.5.5.5
and the following, TTL 1. Each client gets a pipeline of its own, from the first frame of the file;
--shared gives all clients one. Prints "READY PORT"; SIGTERM, SIGINT or, with
--until-eof, the end of its standard input end it.

Debian packages: python3-gi gir1.2-gst-rtsp-server-1.0 gstreamer1.0-plugins-base gstreamer1.0-plugins-good
gstreamer1.0-plugins-bad. Run it with /usr/bin/python3, where python3-gi lives.
"""

import argparse
import os
import signal
import sys

import gi

gi.require_version("Gst", "1.0")
gi.require_version("GstRtsp", "1.0")
gi.require_version("GstRtspServer", "1.0")
from gi.repository import GLib, Gst, GstRtsp, GstRtspServer  # noqa: E402

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--bind", default="127.0.0.1")
parser.add_argument("--port", default="0")
parser.add_argument("--h264", required=True, help="MP4 with H.264 and AAC")
parser.add_argument("--h265", required=True, help="MP4 with H.265")
parser.add_argument("--auth", metavar="USER:PASSWORD")
parser.add_argument("--multicast", action="store_true")
parser.add_argument("--shared", action="store_true")
parser.add_argument("--until-eof", action="store_true")
arguments = parser.parse_args()

Gst.init(None)
server = GstRtspServer.RTSPServer()
server.set_address(arguments.bind)
server.set_service(arguments.port)
mounts = server.get_mount_points()


def add(path, launch):
    factory = GstRtspServer.RTSPMediaFactory()
    factory.set_launch(launch)
    factory.set_shared(arguments.shared)
    protocols = GstRtsp.RTSPLowerTrans.TCP | GstRtsp.RTSPLowerTrans.UDP
    if arguments.multicast:
        protocols |= GstRtsp.RTSPLowerTrans.UDP_MCAST
        pool = GstRtspServer.RTSPAddressPool()
        pool.add_range("239.5.5.5", "239.5.5.20", 50000, 50100, 1)
        factory.set_address_pool(pool)
    factory.set_protocols(protocols)
    if arguments.auth:
        role = "user, media.factory.access=(boolean)true, media.factory.construct=(boolean)true"
        factory.add_role_from_structure(Gst.Structure.from_string(role)[0])
    mounts.add_factory(path, factory)


# config-interval=-1: parameter sets in band before every key frame, and in the SDP.
source = f'filesrc location="{arguments.h264}" ! qtdemux name=d'
video = "d.video_0 ! queue ! h264parse ! rtph264pay name=pay0 pt=96 config-interval=-1"
tone = "audiotestsrc is-live=true ! audio/x-raw,rate=8000,channels=1"
add("/h264", f"( {source} {video} d.audio_0 ! queue ! aacparse ! rtpmp4gpay name=pay1 pt=97 )")
add("/h264v", f"( {source} {video} )")
add("/g711", f"( {source} {video} {tone} ! alawenc ! rtppcmapay name=pay1 pt=8 )")
add("/g711u", f"( {source} {video} {tone} ! mulawenc ! rtppcmupay name=pay1 pt=0 )")
h265 = "d.video_0 ! queue ! h265parse ! rtph265pay name=pay0 pt=98 config-interval=-1"
add("/h265", f'( filesrc location="{arguments.h265}" ! qtdemux name=d {h265} )')
stereo = "audiotestsrc is-live=true ! audio/x-raw,rate=48000,channels=2 ! opusenc"
add("/opus", f"( {source} {video} {stereo} ! rtpopuspay name=pay1 pt=97 )")
add("/g726", f"( {source} {video} {tone} ! avenc_g726 bitrate=32000 ! rtpg726pay name=pay1 pt=97 )")
wide = "videotestsrc is-live=true ! video/x-raw,format=I420,width=2560,height=1440,framerate=2/1"
add("/mjpeg-wide", f"( {wide} ! jpegenc ! rtpjpegpay name=pay0 pt=26 )")
pattern = "videotestsrc is-live=true ! video/x-raw,format=I420,width=640,height=360,framerate=10/1"
add("/mjpeg", f"( {pattern} ! jpegenc ! rtpjpegpay name=pay0 pt=26 )")

if arguments.auth:
    user, password = arguments.auth.split(":", 1)
    auth = GstRtspServer.RTSPAuth()
    token = GstRtspServer.RTSPToken()
    token.set_string("media.factory.role", "user")
    auth.set_supported_methods(GstRtsp.RTSPAuthMethod.DIGEST)
    auth.add_digest(user, password, token)
    server.set_auth(auth)
if server.attach(None) == 0:
    sys.exit(f"cannot listen on {arguments.bind}:{arguments.port}")
print("READY", server.get_bound_port(), flush=True)
loop = GLib.MainLoop()
for number in (signal.SIGTERM, signal.SIGINT):
    GLib.unix_signal_add(GLib.PRIORITY_HIGH, number, loop.quit)


def input_changed(*_):
    if os.read(0, 4096):
        return True
    loop.quit()
    return False


if arguments.until_eof:
    GLib.unix_fd_add_full(GLib.PRIORITY_DEFAULT, 0, GLib.IOCondition.IN | GLib.IOCondition.HUP, input_changed)
loop.run()

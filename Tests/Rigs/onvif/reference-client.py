#!/usr/bin/env python3
"""onvif-zeep-async 4.3.0 (PyPI) as a validator of a device: it reads every answer by ONVIF's own WSDL and schema.

    reference-client.py HOST PORT [--adjust-time] [--user admin] [--password s3cret] [--ptz] [--encoders] [--events]

Device and Media services always, the others when they are asked for; it knows no Media2. One line for each step; the
last one is "PASS", or "FAIL" with the reason (exit status 0 or 1). --adjust-time corrects its WS-UsernameToken by the
device's clock.
"""

import argparse
import asyncio
import datetime
import sys

from onvif import ONVIFCamera

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("host")
parser.add_argument("port", type=int)
parser.add_argument("--user", default="admin")
parser.add_argument("--password", default="s3cret")
for name in ("adjust-time", "ptz", "encoders", "events"):
    parser.add_argument("--" + name, action="store_true")
args = parser.parse_args()


async def device(camera):
    await camera.update_xaddrs()
    print("services", *sorted(name.split("org/")[1] for name in camera.xaddrs))
    management = await camera.create_devicemgmt_service()
    information = await management.GetDeviceInformation()
    print("device", information.Manufacturer, information.Model, information.SerialNumber)
    interfaces = await management.GetNetworkInterfaces()
    print("network", interfaces[0].Info.HwAddress)
    print("endpoint", (await management.GetEndpointReference())["GUID"])


async def media(camera):
    service = await camera.create_media_service()
    profiles = await service.GetProfiles()
    for profile in profiles:
        size = profile.VideoEncoderConfiguration.Resolution
        setup = {"Stream": "RTP-Unicast", "Transport": {"Protocol": "RTSP"}}
        address = await service.GetStreamUri({"StreamSetup": setup, "ProfileToken": profile.token})
        print("profile", profile.token, f"{size.Width}x{size.Height}", address.Uri)
        print("snapshot", (await service.GetSnapshotUri({"ProfileToken": profile.token})).Uri)
    await service.SetSynchronizationPoint({"ProfileToken": profiles[0].token})
    return profiles[0].token


async def encoders(camera):
    service = await camera.create_media_service()
    configuration = (await service.GetVideoEncoderConfigurations())[0]
    options = await service.GetVideoEncoderConfigurationOptions({"ConfigurationToken": configuration.token})
    print("options", *(f"{size.Width}x{size.Height}" for size in options.H264.ResolutionsAvailable))
    configuration.RateControl.BitrateLimit = 2000
    await service.SetVideoEncoderConfiguration({"Configuration": configuration, "ForcePersistence": True})
    changed = (await service.GetVideoEncoderConfigurations())[0]
    print("encoder", configuration.token, changed.RateControl.BitrateLimit)


async def motors(camera, profile):
    service = await camera.create_ptz_service()
    velocity = {"PanTilt": {"x": 0.5, "y": -0.25}, "Zoom": {"x": 0.1}}
    await service.ContinuousMove({"ProfileToken": profile, "Velocity": velocity})
    await service.Stop({"ProfileToken": profile, "PanTilt": True, "Zoom": True})
    position = {"PanTilt": {"x": 0.5, "y": 0.5}, "Zoom": {"x": 0.25}}
    await service.AbsoluteMove({"ProfileToken": profile, "Position": position})
    token = await service.SetPreset({"ProfileToken": profile, "PresetName": "Gate"})
    presets = await service.GetPresets({"ProfileToken": profile})
    print("presets", token, *(preset.Name for preset in presets))
    await service.GotoPreset({"ProfileToken": profile, "PresetToken": presets[0].token})
    status = await service.GetStatus({"ProfileToken": profile})
    print("position", status.Position.PanTilt.x, status.Position.PanTilt.y)
    await service.GotoHomePosition({"ProfileToken": profile})


async def events(camera):
    lost = []
    manager = await camera.create_pullpoint_manager(datetime.timedelta(seconds=60), lambda: lost.append(True))
    for _ in range(3):
        reply = await manager.get_service().PullMessages({"MessageLimit": 10, "Timeout": "PT5S"})
        for message in reply.NotificationMessage:
            print("event", message.Topic._value_1)
    await manager.shutdown()
    if lost:
        raise RuntimeError("the subscription was lost")


async def run(camera):
    await device(camera)
    profile = await media(camera)
    if args.encoders:
        await encoders(camera)
    if args.ptz:
        await motors(camera, profile)
    if args.events:
        await events(camera)


async def main():
    camera = ONVIFCamera(args.host, args.port, args.user, args.password, adjust_time=args.adjust_time)
    try:
        await run(camera)
        print("PASS")
        return 0
    except Exception as error:  # every failure of the validator is a result
        print("FAIL", type(error).__name__, " ".join(str(error).split())[:200])
        return 1
    finally:
        await camera.close()


sys.exit(asyncio.run(main()))

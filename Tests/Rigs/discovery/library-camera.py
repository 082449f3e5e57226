#!/usr/bin/env python3
"""A WS-Discovery target by an implementation that is not ours (PyPI WSDiscovery): Hello, ProbeMatches, Bye.

    library-camera.py XADDR          runs in .venv/bin/python-wsdiscovery; prints READY, says Bye on SIGTERM
"""
import signal
import sys
import time

from wsdiscovery import QName, Scope
from wsdiscovery.publishing import ThreadedWSPublishing

signals = {signal.SIGTERM, signal.SIGINT}
signal.pthread_sigmask(signal.SIG_BLOCK, signals)
types = [
    QName("http://www.onvif.org/ver10/network/wsdl", "NetworkVideoTransmitter"),
    QName("http://www.onvif.org/ver10/device/wsdl", "Device"),
]
scopes = [Scope("onvif://www.onvif.org/" + name) for name in ("Profile/Streaming", "name/Library%20camera", "hardware/WB-1")]
publisher = ThreadedWSPublishing()
publisher.start()
publisher.publishService(types=types, scopes=scopes, xAddrs=[sys.argv[1]])
print("READY", flush=True)
signal.sigwait(signals)
publisher.clearLocalServices()  # this is what sends Bye, from another thread
time.sleep(1)
publisher.stop()

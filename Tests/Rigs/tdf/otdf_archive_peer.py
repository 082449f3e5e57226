#!/usr/bin/env python3
"""otdf-python 0.11.0 (PyPI) as an independent reader and writer of TDF archives, and Python's zipfile as a judge of their form.
One JSON object on stdin, one on stdout.

  otdf_archive_peer.py open   {"privateKey": PEM, "file": PATH}                            ->  {"plaintext": hex or null}
  otdf_archive_peer.py make   {"publicKey": PEM, "url": KAS URL, "plaintext": hex, "segmentSize": N, "file": PATH}  ->  {"size": N}
  otdf_archive_peer.py inspect  {"file": PATH}                                             ->  {"complaints": [text, …]}

null means that the library refused the file. No network. Exit status 2 for wrong usage.
"""
import base64
import io
import json
import logging
import pathlib
import sys
import zipfile

from otdf_python.config import KASInfo, TDFConfig
from otdf_python.tdf import TDF, TDFReaderConfig

logging.disable(logging.CRITICAL)  # the library logs key bytes at INFO


def opened(request):
    data = pathlib.Path(request["file"]).read_bytes()
    try:
        plaintext = TDF(services=None).load_tdf(data, TDFReaderConfig(kas_private_key=request["privateKey"])).payload
        return {"plaintext": bytes(plaintext).hex()}
    except Exception:  # whatever the library throws, it is a refusal
        return {"plaintext": None}


def make(request):
    config = TDFConfig(kas_info_list=[KASInfo(url=request["url"], public_key=request["publicKey"], kid="r1")],
                       default_segment_size=request["segmentSize"])
    output = io.BytesIO()
    TDF(services=None).create_tdf(bytes.fromhex(request["plaintext"]), config, output)
    pathlib.Path(request["file"]).write_bytes(output.getvalue())
    return {"size": len(output.getvalue())}


def inspect(request):
    """What the format asks for (docs/ref/archive-format.md), looked at by a reader that is not ours."""
    complaints = []

    def need(holds, text):
        if not holds:
            complaints.append(text)

    with zipfile.ZipFile(request["file"]) as archive:
        need(archive.testzip() is None, "a checksum is wrong")
        entries = archive.infolist()
        need([entry.filename for entry in entries] == ["0.payload", "0.manifest.json", "manifest.json"],
             f"entries {[entry.filename for entry in entries]}")
        need([entry.header_offset for entry in entries] == sorted(entry.header_offset for entry in entries), "order of the data")
        need(all(entry.compress_type == zipfile.ZIP_STORED for entry in entries), "an entry is compressed")
        manifests = [archive.read(name) for name in ("0.manifest.json", "manifest.json")]
        need(manifests[0] == manifests[1], "the manifests differ")
        payload = archive.read("0.payload")
    manifest = json.loads(manifests[0])
    encryption = manifest["encryptionInformation"]
    integrity = encryption["integrityInformation"]
    need(manifest["schemaVersion"] == manifest["tdf_spec_version"] == "4.3.0", "version")
    need(encryption["method"]["algorithm"] == "AES-256-GCM", "algorithm")
    need(set(manifest["meta"]) == {"assetId", "protectedAt"}, f"meta {manifest['meta']}")
    need(len(base64.b64decode(encryption["keyAccess"][0]["policyBinding"]["hash"])) == 64, "the binding is not of 64 digits")
    need(set(json.loads(base64.b64decode(encryption["policy"]))) >= {"uuid", "body"}, "policy")
    offset = 0
    for number, segment in enumerate(integrity["segments"]):
        need(segment["encryptedSegmentSize"] == segment["segmentSize"] + 28, f"sizes of segment {number}")
        offset += segment["encryptedSegmentSize"]
        need(base64.b64decode(segment["hash"]) == payload[offset - 16:offset], f"hash of segment {number}")
    need(offset == len(payload), f"segments of {offset} bytes in a payload of {len(payload)}")
    return {"complaints": complaints}


def main(arguments):
    commands = {"open": opened, "make": make, "inspect": inspect}
    if len(arguments) != 1 or arguments[0] not in commands:
        print(__doc__, file=sys.stderr)
        return 2
    json.dump(commands[arguments[0]](json.load(sys.stdin)), sys.stdout)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

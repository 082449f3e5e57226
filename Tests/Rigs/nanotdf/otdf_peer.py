#!/usr/bin/env python3
"""otdf-python 0.11.0 (PyPI) as an independent NanoTDF reader and writer. One JSON object on stdin, one on stdout.

  otdf_peer.py open   {"privateKey": PEM, "header": hex, "items": [hex, …]}  ->  {"plaintexts": [hex or null, …]}
  otdf_peer.py make   {"publicKey": PEM, "url": KAS URL, "plaintexts": [hex, …]}  ->  {"nanotdfs": [hex, …]}

Items are container items, IV | length(3) | ciphertext | tag. The library knows single NanoTDFs only, so each item is put
behind the header with its length in front and counting the IV. null means that the library refused the item.
No network. Exit status 2 for wrong usage.
"""
import io
import json
import logging
import sys

from otdf_python.config import KASInfo, NanoTDFConfig
from otdf_python.nanotdf import NanoTDF

logging.disable(logging.CRITICAL)  # the library logs key bytes at INFO


def as_single(header, item):
    length = int.from_bytes(item[3:6], "big")
    if len(item) != 6 + length:
        raise ValueError(f"the item says {length} bytes, {len(item) - 6} follow")
    body = item[:3] + item[6:]
    return header + len(body).to_bytes(3, "big") + body


def opened(private_key, nanotdf):
    config = NanoTDFConfig()
    config.cipher = private_key
    output = io.BytesIO()
    NanoTDF().read_nano_tdf(nanotdf, output, config)
    return output.getvalue()


def made(public_key, url, plaintext):
    config = NanoTDFConfig()
    config.kas_info_list = [KASInfo(url=url, public_key=public_key)]
    config.attributes = []
    output = io.BytesIO()
    NanoTDF().create_nano_tdf(plaintext, output, config)
    return output.getvalue()


def open_items(request):
    header = bytes.fromhex(request["header"])
    plaintexts = []
    for item in request["items"]:
        try:
            plaintexts.append(opened(request["privateKey"], as_single(header, bytes.fromhex(item))).hex())
        except Exception:  # whatever the library throws, it is a refusal
            plaintexts.append(None)
    return {"plaintexts": plaintexts}


def make(request):
    return {
        "nanotdfs": [
            made(request["publicKey"], request["url"], bytes.fromhex(plaintext)).hex()
            for plaintext in request["plaintexts"]
        ]
    }


def main(arguments):
    commands = {"open": open_items, "make": make}
    if len(arguments) != 1 or arguments[0] not in commands:
        print(__doc__, file=sys.stderr)
        return 2
    json.dump(commands[arguments[0]](json.load(sys.stdin)), sys.stdout)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

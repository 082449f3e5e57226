#!/usr/bin/env python3
"""otdf-python 0.11.0 (PyPI) as an independent client of a KAS. One JSON object on stdin, one on stdout.

  otdf_kas_client.py public-key  {"url": KAS URL}                                    ->  {"kid": …, "publicKey": PEM}
  otdf_kas_client.py rewrap      {"url": KAS URL, "token": …, "headers": [hex, …]}   ->  {"keys": [hex or null, …]}

The library talks Connect with protobuf and gzip to the URL's host, and wraps under an RSA key of its own. null means that
the KAS refused the header. The network is used for that URL only. Exit status 2 for wrong usage.
"""
import json
import logging
import sys

from otdf_python.config import KASInfo
from otdf_python.kas_client import KASClient, KeyAccess

logging.disable(logging.CRITICAL)  # the library logs key bytes at INFO


def client(request):
    return KASClient(
        kas_url=request["url"],
        token_source=lambda: request.get("token", "none"),
        use_plaintext=request["url"].startswith("http://"),
    )


def public_key(request):
    key = client(request).get_public_key(KASInfo(url=request["url"], algorithm="ec:secp256r1"))
    return {"kid": key.kid, "publicKey": key.public_key}


def rewrap(request):
    kas = client(request)
    keys = []
    for header in request["headers"]:
        access = KeyAccess(url=request["url"], wrapped_key="", header=bytes.fromhex(header))
        try:
            keys.append(kas.unwrap(access, "{}", "EC").hex())
        except Exception:  # whatever the library throws, it is a refusal
            keys.append(None)
    return {"keys": keys}


def main(arguments):
    commands = {"public-key": public_key, "rewrap": rewrap}
    if len(arguments) != 1 or arguments[0] not in commands:
        print(__doc__, file=sys.stderr)
        return 2
    json.dump(commands[arguments[0]](json.load(sys.stdin)), sys.stdout)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

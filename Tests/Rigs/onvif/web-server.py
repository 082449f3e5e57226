#!/usr/bin/env python3
"""A web server that is no camera: a page for GET, 501 for POST; with --redirect URL 302 to there, with --status N that
status and an empty body. Prints "READY <port> -"."""

import argparse
import http.server

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--redirect")
parser.add_argument("--status", type=int)
args = parser.parse_args()


class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *arguments):
        pass

    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"<html><body>It works!</body></html>")

    if args.redirect or args.status:

        def do_POST(self):
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
            self.send_response(302 if args.redirect else args.status)
            if args.redirect:
                self.send_header("Location", args.redirect)
            self.send_header("Content-Length", "0")
            self.end_headers()


server = http.server.HTTPServer(("127.0.0.1", 0), Handler)
print("READY", server.server_port, "-", flush=True)
server.serve_forever()

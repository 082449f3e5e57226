#!/usr/bin/env python3
"""A web server that is not a camera: a page for GET, 501 for POST; with --redirect URL 302 to there, with --status N that
status and an empty body, with --page the page for POST, too, whatever the path, as a camera's web interface does beside
its ONVIF service at another port. [--bind 127.0.0.1] [--port 0]. Prints "READY <port> -"."""

import argparse
import http.server

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("--redirect")
parser.add_argument("--status", type=int)
parser.add_argument("--page", action="store_true")
parser.add_argument("--bind", default="127.0.0.1")
parser.add_argument("--port", type=int, default=0)
args = parser.parse_args()


class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *arguments):
        pass

    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"<html><body>It works!</body></html>")

    if args.page:

        def do_POST(self):
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
            page = b"<!DOCTYPE html><html><head><meta charset=utf-8><title>Log in</title></head><body><br>Welcome</body></html>"
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(page)))
            self.end_headers()
            self.wfile.write(page)

    elif args.redirect or args.status:

        def do_POST(self):
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
            self.send_response(302 if args.redirect else args.status)
            if args.redirect:
                self.send_header("Location", args.redirect)
            self.send_header("Content-Length", "0")
            self.end_headers()


server = http.server.HTTPServer((args.bind, args.port), Handler)
print("READY", server.server_port, "-", flush=True)
server.serve_forever()

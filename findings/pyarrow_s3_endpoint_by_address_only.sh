#!/usr/bin/env bash
# pyarrow==26.0.1.
# `AWS_ENDPOINT_URL` names the server of an object store that is not Amazon's. pyarrow obeys it where a file is named by
# its address (`FileSystem.from_uri`, `read_table("s3://…")`) and not where the file system is made first, as the
# documentation of `S3FileSystem` does it: that one asks Amazon, with the keys of the other store.
# Guess before: both read the environment, as both take the keys from it.
# Seen: with the variable set, from_uri asks 127.0.0.1 for the bucket; S3FileSystem(), through a proxy that records where
# it is to connect, asks for bucket.s3.us-east-1.amazonaws.com:443.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/env"
"$folder/env/bin/pip" -q install pyarrow==26.0.1
"$folder/env/bin/python" - <<'PYTHON'
import os
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pyarrow.fs

asked = []


class Recorder(BaseHTTPRequestHandler):
    def answer(self):
        asked.append(f"{self.command} {self.path}")
        self.send_response(403)
        self.send_header("Content-Length", "0")
        self.end_headers()

    do_HEAD = do_GET = do_CONNECT = answer

    def log_message(self, *given):
        pass


server = ThreadingHTTPServer(("127.0.0.1", 0), Recorder)
Thread(target=server.serve_forever, daemon=True).start()
port = server.server_address[1]
os.environ.update(AWS_ACCESS_KEY_ID="key", AWS_SECRET_ACCESS_KEY="secret", AWS_DEFAULT_REGION="us-east-1")
os.environ["AWS_ENDPOINT_URL"] = f"http://127.0.0.1:{port}"


def first_question(system):
    asked.clear()
    try:
        system.get_file_info("bucket")
    except OSError:
        pass
    return asked[0]


proxy = {"scheme": "http", "host": "127.0.0.1", "port": port}
by_address = first_question(pyarrow.fs.FileSystem.from_uri("s3://bucket/file.parquet")[0])
made_first = first_question(pyarrow.fs.S3FileSystem(proxy_options=proxy))
print("by address:", by_address)
print("made first:", made_first)
assert by_address == "HEAD /bucket"
assert made_first == "CONNECT bucket.s3.us-east-1.amazonaws.com:443"
PYTHON

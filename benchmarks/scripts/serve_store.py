"""An object store on the loopback (moto's server) that holds a copy of a store: serve_store.py STORE URL.

Prints the environment under which URL is that copy, as JSON, and serves until its standard input ends.
"""

import json
import logging
import os
import sys
from pathlib import Path

import fsspec
from moto.server import ThreadedMotoServer

folder, url = Path(sys.argv[1]), sys.argv[2]
logging.getLogger("werkzeug").setLevel(logging.ERROR)
server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
server.start()
host, port = server.get_host_and_port()
environment = {
    "AWS_ENDPOINT_URL": f"http://{host}:{port}",
    "AWS_ACCESS_KEY_ID": "nobody",
    "AWS_SECRET_ACCESS_KEY": "nothing",
    "AWS_DEFAULT_REGION": "us-east-1",
}
os.environ.update(environment)
files, root = fsspec.core.url_to_fs(url)
files.mkdir(root.partition("/")[0])
files.put(f"{folder}/", f"{root}/", recursive=True)
print(json.dumps(environment), flush=True)
sys.stdin.read()
server.stop()

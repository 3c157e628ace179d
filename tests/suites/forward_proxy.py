# SPDX-License-Identifier: Apache-2.0
"""A forward proxy for clients that insist on bucket names as hosts: every http:// URL is sent to one server, with its Host header as it was."""
import socket
import threading


def _pipe(a, b):
    try:
        while data := a.recv(65536):
            b.sendall(data)
        b.shutdown(socket.SHUT_WR)
    except OSError:
        pass


def _handle(client, server):
    head = b""
    while b"\r\n\r\n" not in head:
        data = client.recv(65536)
        if not data:
            return client.close()
        head += data
    head, body = head.split(b"\r\n\r\n", 1)
    lines = head.split(b"\r\n")
    method, url, version = lines[0].split(b" ")
    if url.startswith(b"http://"):
        url = b"/" + url[7:].partition(b"/")[2]
    kept = [x for x in lines[1:] if not x.lower().startswith((b"connection:", b"proxy-"))]
    with socket.create_connection(server) as up, client:
        up.sendall(b"\r\n".join([b" ".join((method, url, version)), *kept, b"Connection: close"]) + b"\r\n\r\n" + body)
        threading.Thread(target=_pipe, args=(client, up), daemon=True).start()
        _pipe(up, client)


def start(server):
    """Gives the proxy's own port; it lives as long as the process."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve():
        while True:
            threading.Thread(target=_handle, args=(listener.accept()[0], server), daemon=True).start()
    threading.Thread(target=serve, daemon=True).start()
    return listener.getsockname()[1]

"""Pretends to be `vllm`: the same arguments, HTTP surface, streams and metrics, and on request the same misfortunes.

Standard library only, so that it runs in any Python. Misfortunes come from the environment variable FAKE_VLLM, as
words of a command line: `FAKE_VLLM="--answers garbage --token-s 0.02"`; see `misfortunes` for all of them.
"""

import argparse
import itertools
import json
import os
import shlex
import signal
import socket
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from vllm_metrics import Metrics
from vllm_words import PIECES, misfortunes, reply_pieces, serve_words

VERSION = os.environ.get("FAKE_VLLM_VERSION", "0.32.0+cpu")
NUMBERS = itertools.count(1)


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def __init__(self, serve: argparse.Namespace, how: argparse.Namespace) -> None:
        super().__init__((serve.host, serve.port), Surface)
        self.serve, self.how = serve, how
        self.model = serve.served_model_name or serve.model
        self.metrics = Metrics(self.model)


class Surface(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Server

    def log_message(self, format: str, *words: object) -> None:
        if getattr(self, "path", "") in (self.server.serve.disable_access_log_for_endpoints or "").split(","):
            return
        print(f"(APIServer pid={os.getpid()}) INFO:     {self.client_address[0]} - {format % words}", flush=True)

    def do_GET(self) -> None:
        if self.server.how.html:
            return self.say(200, "<html><body>It works!</body></html>", "text/html")
        if self.path == "/health":
            return self.say(503 if self.server.how.never_healthy else 200, "", "text/plain")
        if self.path == "/metrics":
            return self.say(200, self.server.metrics.exposition(), "text/plain; version=0.0.4; charset=utf-8")
        if self.path == "/version":
            return self.say(200, {"version": VERSION})
        if self.path != "/v1/models":
            return self.say(404, {"detail": "Not Found"})
        if self.authorized():
            card = {"id": self.server.model, "object": "model", "owned_by": "vllm", "root": self.server.serve.model}
            card |= {"created": int(time.time()), "parent": None, "max_model_len": self.server.serve.max_model_len}
            self.say(200, {"object": "list", "data": [card]})
        return None

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        how = self.server.how
        if how.html:
            return self.say(200, "<html><body>It works!</body></html>", "text/html")
        if self.path != "/v1/chat/completions":
            return self.say(404, {"detail": "Not Found"})
        if not self.authorized():
            return None
        if how.refuse:
            return self.refuse(how.refuse, "EngineCore encountered an issue. See stack trace (above).")
        try:
            body = json.loads(raw)
            prompt = "\n".join(str(message["content"]) for message in body["messages"])
        except (ValueError, KeyError, TypeError) as wrong:
            return self.refuse(400, f"1 validation error: {wrong!r}")
        if body.get("model") not in (None, self.server.model):
            return self.refuse(404, f"The model `{body['model']}` does not exist.")
        wanted, context = (
            body.get("max_completion_tokens") or body.get("max_tokens") or 1,
            self.server.serve.max_model_len,
        )
        if wanted > context:
            words = f"max_tokens={wanted} cannot be greater than max_model_len={context}."
            more = f"Please request fewer output tokens. (parameter=max_tokens, value={wanted})"
            return self.refuse(400, f"{words} {more}")
        if (has := len(PIECES.findall(prompt))) + wanted > context:
            words = f"This model's maximum context length is {context} tokens."
            more = f"However, you requested {wanted} output tokens and your prompt contains {has} input tokens."
            return self.refuse(400, f"{words} {more}")
        return Chat(self, body, prompt).run()

    def authorized(self) -> bool:
        key = self.server.serve.api_key
        if key and self.headers.get("Authorization") != f"Bearer {key}":
            self.say(401, {"error": "Unauthorized"})
            return False
        return True

    def refuse(self, status: int, message: str) -> None:
        kind = {400: "BadRequestError", 404: "NotFoundError"}.get(status, "InternalServerError")
        self.say(status, {"error": {"message": message, "type": kind, "param": None, "code": status}})

    def say(self, status: int, body: object, kind: str = "application/json") -> None:
        data = (body if isinstance(body, str) else json.dumps(body)).encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


class Chat:
    """One answer, streamed or whole."""

    def __init__(self, surface: Surface, body: dict[str, object], prompt: str) -> None:
        self.surface, self.body, self.how = surface, body, surface.server.how
        self.metrics, self.number = surface.server.metrics, next(NUMBERS)
        self.pieces, self.finish = reply_pieces(body, prompt.split("\n")[-1], self.how)
        self.prompt, self.prompt_tokens = prompt, len(PIECES.findall(prompt)) + 4
        self.times: list[float] = []

    def run(self) -> None:
        self.metrics.begin(self.number, self.prompt, self.prompt_tokens)
        self.times, reason = [time.monotonic()], "abort"
        try:
            reason = self.stream() if self.body.get("stream") else self.whole()
        except (BrokenPipeError, ConnectionResetError):
            self.surface.close_connection = True
        finally:
            self.metrics.end(self.number, reason, self.times)

    def tick(self) -> None:
        time.sleep(self.how.token_s)
        self.times.append(time.monotonic())
        self.metrics.token(self.number, self.times[-1] - self.times[-2], len(self.times) == 2)

    def usage(self) -> dict[str, int]:
        done = len(self.times) - 1
        return {
            "prompt_tokens": self.prompt_tokens,
            "total_tokens": self.prompt_tokens + done,
            "completion_tokens": done,
        }

    def whole(self) -> str:
        for _ in self.pieces:
            self.tick()
        message = {"role": "assistant", "content": "".join(self.pieces), "reasoning": None}
        choice = {"index": 0, "message": message, "finish_reason": self.finish, "logprobs": None}
        usage = {} if self.how.no_usage else {"usage": self.usage()}
        self.surface.say(200, self.frame("chat.completion") | {"choices": [choice]} | usage)
        return self.finish

    def frame(self, kind: str) -> dict[str, object]:
        model = self.surface.server.model
        return {"id": f"chatcmpl-{self.number:032x}", "object": kind, "created": int(time.time()), "model": model}

    def stream(self) -> str:
        self.surface.send_response(200)
        self.surface.send_header("Content-Type", "text/event-stream; charset=utf-8")
        self.surface.send_header("Transfer-Encoding", "chunked")
        self.surface.end_headers()
        self.delta({"role": "assistant", "content": "", "reasoning_content": None})
        field = "reasoning_content" if self.how.old_reasoning else "reasoning"
        thoughts = ["Let", " me", " think", "."] if self.how.reasoning or self.how.old_reasoning else []
        spoken = [(field, thought) for thought in thoughts] + [("content", piece) for piece in self.pieces]
        for count, (name, piece) in enumerate(spoken):
            if self.misfortune(count):
                return "error"
            self.tick()
            self.delta({name: piece})
        if self.misfortune(len(spoken)):
            return "error"
        self.delta({"content": ""}, self.finish)
        wants = self.body.get("stream_options") or {}
        if isinstance(wants, dict) and wants.get("include_usage") and not self.how.no_usage:
            self.event(self.frame("chat.completion.chunk") | {"choices": [], "usage": self.usage()})
        self.event("[DONE]")
        self.write(b"")
        return self.finish

    def misfortune(self, count: int) -> bool:
        if count == self.how.hang_after:
            self.surface.connection.recv(1, socket.MSG_PEEK)  # says nothing until the client is gone
            raise ConnectionResetError
        if count == self.how.drop_after:
            self.surface.close_connection = True
            return True
        if count == self.how.error_after:
            error = {"message": "EngineCore encountered an issue.", "type": "InternalServerError", "code": 500}
            self.event({"error": error})
            self.event("[DONE]")
            self.write(b"")
            return True
        return False

    def delta(self, delta: dict[str, object], finish: str | None = None) -> None:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        frame = self.frame("chat.completion.chunk") | {"choices": [choice]}
        wants = self.body.get("stream_options") or {}
        if isinstance(wants, dict) and wants.get("continuous_usage_stats") and not self.how.no_usage:
            frame["usage"] = self.usage()
        self.event(frame)

    def event(self, data: object) -> None:
        text = data if isinstance(data, str) else json.dumps(data, ensure_ascii=False, separators=(",", ":"))
        whole = f"data: {text}\n\n".encode()
        for part in [whole[i : i + 1] for i in range(len(whole))] if self.how.split_bytes else [whole]:
            self.write(part)

    def write(self, data: bytes) -> None:
        """One chunk of the transfer encoding; an empty one ends the answer."""
        self.surface.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
        self.surface.wfile.flush()


def log(words: str, source: str = "APIServer") -> None:
    when = time.strftime("%m-%d %H:%M:%S")
    print(f"({source} pid={os.getpid()}) INFO {when} [fake.py:1] {words}", flush=True)


def serve(words: list[str]) -> int:
    how = misfortunes(shlex.split(os.environ.get("FAKE_VLLM", "")))
    asked = serve_words(words)
    signal.signal(signal.SIGTERM, signal.SIG_IGN if how.ignore_term else lambda *_: sys.exit(0))
    signal.signal(signal.SIGINT, lambda *_: sys.exit(0))  # also where a shell started it in the background
    log(f"vLLM API server version {VERSION}")
    log(f"non-default args: {vars(asked) | {'api_key': None}}")
    sleepers = [subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"]) for _ in range(how.children)]
    time.sleep(how.slow_start)
    if how.exit_at_start is not None:
        print(f"(EngineCore pid={os.getpid()}) ERROR RuntimeError: Engine core initialization failed.", flush=True)
        return int(how.exit_at_start)
    log("Loading weights took 0.10 seconds", "Worker")
    log("GPU KV cache size: 16,384 tokens", "EngineCore")
    try:
        server = Server(asked, how)
    except OSError as taken:
        print(f"ERROR: {taken}", file=sys.stderr, flush=True)
        return 1
    if how.die_after is not None:
        threading.Timer(how.die_after, die, [how.die_code]).start()
    log(f"Starting vLLM server on http://{asked.host}:{server.server_address[1]}")
    print("INFO:     Application startup complete.", flush=True)
    try:
        server.serve_forever(poll_interval=0.1)
    finally:
        print("INFO:     Shutting down", flush=True)
        for sleeper in sleepers:
            sleeper.kill()
            sleeper.wait()
    return 0


def die(code: int) -> None:
    print(f"(EngineCore pid={os.getpid()}) ERROR EngineDeadError: EngineCore encountered an issue.", flush=True)
    if code == 137:
        os.kill(os.getpid(), signal.SIGKILL)
    os._exit(code)


def main(words: list[str]) -> int:
    if words in (["--version"], ["-v"]):
        print(VERSION)
        return 0
    if words[:1] == ["serve"]:
        return serve(words[1:])
    print(f"vllm: this pretended one only knows `serve` and `--version`, not {words}", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

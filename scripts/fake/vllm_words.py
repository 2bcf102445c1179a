"""What the pretended vLLM understands and says: its arguments, its misfortunes and its answers."""

import argparse
import itertools
import os
import re

PIECES = re.compile(r"\s*[一-鿿\u3000-\u303f\uff00-\uffef]|\s*\w+|\s*[^\w\s]|\s+")
GARBAGE = "The region of the several is considered to be of the most and the river in the which it has been found."


def misfortunes(words: list[str]) -> argparse.Namespace:
    add = (parser := argparse.ArgumentParser(prog="FAKE_VLLM")).add_argument
    add("--answers", default="sense", help="sense | garbage | noise | nothing, or text:WORDS to say always the same")
    add("--slow-start", type=float, default=0.3, help="seconds before the port opens")
    add("--never-healthy", action="store_true", help="/health says 503 for ever")
    add("--exit-at-start", type=int, help="end with this code instead of opening the port")
    add("--die-after", type=float, help="seconds after the start of service until the process kills itself")
    add("--die-code", type=int, default=1, help="exit code of --die-after; 137 = really killed by SIGKILL")
    add("--token-s", type=float, default=0.005, help="seconds between two tokens")
    add("--hang-after", type=int, help="tokens after which a stream says nothing more and stays open")
    add("--drop-after", type=int, help="tokens after which a stream is cut off")
    add("--error-after", type=int, help="tokens after which a stream carries an error of the engine")
    add("--refuse", type=int, help="HTTP status with which every chat request is refused")
    add("--html", action="store_true", help="answer as some other web server would")
    add("--split-bytes", action="store_true", help="send every byte of a stream by itself")
    add("--reasoning", action="store_true", help="think before answering, in the field `reasoning`")
    add("--old-reasoning", action="store_true", help="the same in the older field `reasoning_content`")
    add("--no-usage", action="store_true", help="never say how many tokens were used")
    add("--ignore-term", action="store_true", help="do not end on SIGTERM")
    add("--children", type=int, default=0, help="start this many child processes, as workers would be")
    return parser.parse_args(words)


def serve_words(words: list[str]) -> argparse.Namespace:
    """What `vllm serve` is given; a word it does not know ends it with code 2, as it ends the real one."""
    parser = argparse.ArgumentParser(prog="vllm serve", allow_abbrev=False)
    add = parser.add_argument
    add("model")
    add("--served-model-name")
    add("--host", default="127.0.0.1")
    add("--port", type=int, default=8000)
    add("--dtype", choices=["auto", "half", "float16", "bfloat16", "float", "float32"], default="auto")
    add("--tensor-parallel-size", "-tp", type=int, default=1)
    add("--pipeline-parallel-size", "-pp", type=int, default=1)
    add("--max-model-len", type=int, default=8192)
    add("--max-num-seqs", type=int, default=128)
    add("--kv-cache-memory-bytes", type=int)
    add("--enforce-eager", action="store_true")
    add("--disable-access-log-for-endpoints")
    add("--api-key", default=os.environ.get("VLLM_API_KEY"))
    return parser.parse_args(words)


def answer(prompt: str, kind: str) -> str:
    """What this pretended model says."""
    if kind.startswith("text:"):
        return kind[5:]
    if kind != "sense":
        return {"garbage": GARBAGE, "noise": "qx vor lim " * 400, "nothing": ""}[kind]
    if counted := re.search(r"count to (\d+)", prompt, re.IGNORECASE):
        return " ".join(str(n) for n in range(1, int(counted[1]) + 1))
    for asked, said in (
        ("capital of france", "The capital of France is Paris."),
        ("法国的首都", "法国的首都是巴黎。"),
        ("2 + 2", "2 + 2 equals 4."),
    ):
        if asked in prompt.lower():
            return said
    return f"你刚才说:{prompt}" if re.search(r"[一-鿿]", prompt) else f"You said: {prompt}"


def reply_pieces(body: dict[str, object], prompt: str, how: argparse.Namespace) -> tuple[list[str], str]:
    """The tokens of the answer and its finish reason."""
    pieces = PIECES.findall(answer(prompt, how.answers))
    most = int(body.get("max_completion_tokens") or body.get("max_tokens") or 4096)  # type: ignore[call-overload]
    stops = body.get("stop") or []
    for stop in [stops] if isinstance(stops, str) else list(stops):  # type: ignore[call-overload]
        if stop in "".join(pieces):
            pieces = PIECES.findall("".join(pieces).split(stop)[0])
    if body.get("ignore_eos") and pieces:
        pieces = list(itertools.islice(itertools.cycle(pieces), most))
    return pieces[:most], "length" if len(pieces) >= most else "stop"

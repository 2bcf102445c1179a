# answer PORT: whether a server answers there that it is healthy and which model it serves.
answer() {
    "$py" - "$1" 2>/dev/null <<'PILOT_ANSWER'
import json, sys, urllib.request
at = f"http://127.0.0.1:{sys.argv[1]}"
urllib.request.urlopen(f"{at}/health", timeout=10).close()
with urllib.request.urlopen(f"{at}/v1/models", timeout=10) as told:
    raise SystemExit(not json.load(told)["data"])
PILOT_ANSWER
}

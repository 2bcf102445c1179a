# uses: answering
cards_free "trying a server"
rm -f "$venv/answered"
model="$PWD/tiny"
mkdir -p "$model"
printf '%s\n' "$tiny" >"$model/config.json"
port=$("$py" -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
echo "Starting a server with a tiny model of random weights on port $port"
# In a session of its own, so that everything it starts can be ended; not by a function, so that $! is the server.
setsid bash -c "$cann_env" bash "$prefix" "$venv/bin/vllm" serve "$model" --load-format dummy --skip-tokenizer-init \
    --enforce-eager --max-model-len 128 --gpu-memory-utilization 0.5 --host 127.0.0.1 --port "$port" >server.log 2>&1 </dev/null &
server=$!
trap 'kill -KILL -- -$server 2>/dev/null || true' EXIT
trap 'exit 143' TERM INT
waited=0
until answer "$port"; do
    kill -0 "$server" 2>/dev/null || { tail -n 60 server.log; fail "The server ended before it answered; its last words are above."; }
    [ "$waited" -lt "$server_wait" ] || { tail -n 60 server.log; fail "The server did not answer within $waited s."; }
    sleep 1
    waited=$((waited + 1))
done
grep -i 'plugin ascend' server.log || { tail -n 60 server.log; fail "The server answers, but its log does not say that \
the plugin for Ascend is active."; }
echo "It answers after $waited s."
kill -INT "$server"
i=0
while kill -0 "$server" 2>/dev/null && [ $i -lt 60 ]; do sleep 1; i=$((i + 1)); done
{ cat "$venv/pinned.txt"; running_driver; } >"$venv/answered.part"
mv "$venv/answered.part" "$venv/answered"

"""Secrets never reach a log, everything else does, and no offset moves."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from console.jobs.logs import Log
from console.masking import mask

NAMES = ("password", "Passwd", "secret", "API_KEY", "api-key", "token", "MY_ACCESS_KEY", "private_key", "credentials")
PIECES = st.sampled_from(
    [
        *NAMES,
        "=",
        ": ",
        "'",
        '"',
        " ",
        "\n",
        "--",
        "Bearer ",
        "://",
        "@",
        ":",
        "hunter2",
        "sk-",
        "0123456789abcdef",
        "密",
    ]
)


@given(st.one_of(st.text(), st.lists(PIECES).map("".join)))
def test_the_length_stays(text: str) -> None:
    masked = mask(text)
    assert len(masked) == len(text)
    assert masked.count("\n") == text.count("\n")
    assert mask(masked) == masked


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("between", ["=", ": ", "='", '" : "', " = "])
def test_what_is_named_as_a_secret_is_hidden(name: str, between: str) -> None:
    masked = mask(f"before {name}{between}hunter2secret after")
    assert "hunter2secret" not in masked
    assert masked.startswith("before ")
    assert masked.endswith(" after")


@pytest.mark.parametrize(
    "text",
    [
        "vllm serve /m --api-key hunter2secret --port 8000",
        "curl -H 'Authorization: Bearer hunter2secret' http://127.0.0.1",
        '"authorization": "Basic hunter2secret"',
        "got bearer hunter2secret.abc",
        "https://ann:hunter2secret@example.com/simple",
        "pip: https://:hunter2secret@example.com",
        "hf_hunter2secretAB used",
        "sk-hunter2secretAB used",
        "export VLLM_API_KEY=hunter2secret",
        '{"password": "hunter2secret", "user": "ann"}',
        "db_password=hunter2secret;host=x",
        "HUGGING_FACE_HUB_TOKEN=hunter2secret",
    ],
)
def test_secrets_in_their_usual_places(text: str) -> None:
    assert "hunter2" not in mask(text)


@pytest.mark.parametrize(
    "text",
    [
        "max_tokens=128, prompt_tokens: 12",
        "token: None",
        "api_key=null",
        "tokenizer='/models/smol', tokenizer_mode=auto",
        "Avg prompt throughput: 3.1 tokens/s, Running: 1 reqs",
        "password: <unset>",
        "secrets: true",
        "http://127.0.0.1:8000/v1 and git@example.com:a/b",
        "a key and a lock",
        "time 12:30:45 user@host",
    ],
)
def test_what_says_nothing_secret_stays(text: str) -> None:
    assert mask(text) == text


@pytest.mark.parametrize("piece", ["a-", "pass-", "-", "token ", "secret:", "://a:", "bearer ", "xxxxxxx="])
def test_a_very_long_line_costs_no_more_than_its_length(piece: str) -> None:
    """100,000 characters: a pattern that goes back over all it read would never end."""
    text = piece * (100_000 // len(piece))
    assert len(mask(text)) == len(text)


@pytest.mark.parametrize("secret", ["密码加密hunter2", "été-hunter2", "\u00a0hunter2", "пароль-hunter2"])
def test_a_secret_with_other_letters_is_hidden_in_a_log(tmp_path: Path, secret: str) -> None:
    log = Log(tmp_path / "log")
    printed = f"user ann\npassword={secret}\n中文 stays\n".encode()
    log.take(printed, ended=True)
    kept = log.path.read_bytes()
    assert b"hunter2" not in kept
    assert len(kept) == len(printed)
    assert "中文 stays".encode() in kept

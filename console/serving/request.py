"""One chat request, the same words for the playground, for curl and for a program."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class ChatRequest:
    """What is asked of a model; None and an empty `stop` leave the choice to the server."""

    model: str
    messages: Sequence[Mapping[str, str]]
    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None
    seed: int | None = None
    stop: Sequence[str] = ()

    def body(self) -> dict[str, object]:
        """The JSON body, streamed, with token counts at the end."""
        chosen = {
            "temperature": self.temperature,
            "top_p": self.top_p,
            "max_tokens": self.max_tokens,
            "seed": self.seed,
            "stop": list(self.stop) or None,
        }
        return {
            "model": self.model,
            "messages": [dict(message) for message in self.messages],
            **{name: value for name, value in chosen.items() if value is not None},
            "stream": True,
            "stream_options": {"include_usage": True},
        }

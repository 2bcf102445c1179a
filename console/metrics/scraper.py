"""Fetches what a vLLM server says of itself."""

import functools
import ssl

import httpx

from console.errors import EngineError
from console.metrics.exposition import parse
from console.metrics.scrape import Scrape
from console.text import say, verbatim


def scrape(address: str, timeout_s: float = 2.0, transport: httpx.BaseTransport | None = None) -> Scrape:
    """One reading of `address`/metrics, `address` being like "http://127.0.0.1:8000".

    Raises EngineError when there is no answer within `timeout_s` seconds per phase (connect, read), or an answer
    other than 200. An answer without figures of vLLM is no error: it is a Scrape without engines.
    """
    where = verbatim(address)
    try:
        # Engines are reached directly or through a tunnel of ours, never through a proxy named in the environment.
        with httpx.Client(timeout=timeout_s, trust_env=False, verify=_certificates(), transport=transport) as client:
            answer = client.get(address.rstrip("/") + "/metrics")
    except httpx.TimeoutException as error:
        raise EngineError(
            say("{address} did not answer within {s} seconds. It may be busy or hanging.", address=where, s=timeout_s)
        ) from error
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        reason = verbatim(str(error) or type(error).__name__)
        raise EngineError(
            say("{address} cannot be reached: {reason}. Check that it is running.", address=where, reason=reason)
        ) from error
    if answer.status_code != httpx.codes.OK:
        raise EngineError(
            say(
                "{address} answered HTTP {code} instead of its metrics. Check that a vLLM server listens there.",
                address=where,
                code=answer.status_code,
            )
        )
    return parse(answer.text)


@functools.cache
def _certificates() -> ssl.SSLContext:
    """Read once: reading the system's certificates takes longer than a scrape."""
    return ssl.create_default_context()

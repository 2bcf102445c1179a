"""How the answers of a model are to be read: the parsers and the tokenizer mode that go with it, by its name."""

from collections.abc import Mapping
from pathlib import PurePosixPath

from console.catalog import models, parsers
from console.errors import NotFound


def manners(folder: str, release: str) -> Mapping[str, str]:
    """Field of ServeSpec -> its value, for a model of the catalog; only what the release knows. Others get nothing."""
    try:
        model = models.find(PurePosixPath(folder).name).model
    except NotFound:
        return {}
    parser = parsers.parser_of(release)
    mode = parser.by_name.get("--tokenizer-mode")
    modes = () if mode is None else (*map(str, mode.choices), *map(str, mode.known))
    fitting = {
        "reasoning_parser": model.reasoning_parser if model.reasoning_parser in parser.reasoning_parsers else "",
        "tool_parser": model.tool_parser if model.tool_parser in parser.tool_parsers else "",
        "tokenizer_mode": model.tokenizer_mode if model.tokenizer_mode in modes else "",
    }
    return {field: value for field, value in fitting.items() if value}

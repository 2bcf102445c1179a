"""Reads a pasted Python program: which engine it makes, with which arguments. Nothing of it is run."""

import ast
import json
import re
import textwrap
import warnings
from collections.abc import Iterator

from console.serving.explain_parts import Given, Pasted, Word
from console.text import Text, say

ENGINES = ("LLM", "AsyncEngineArgs", "EngineArgs", "AsyncLLMEngine", "AsyncLLM")
MOST_CALLS = 50
"""A program makes few engines; a text with thousands of open brackets is none."""
NEVER = ("AscendOptions", "AscendConfig", "NPUOptions")
OF_REQUESTS = ("SamplingParams", "generate", "chat", "encode")
_SIGN = re.compile(
    r"\b(?:LLM|AscendOptions|AsyncEngineArgs|EngineArgs)\s*[(（]|^\s*(?:from|import)\s+vllm\b", re.MULTILINE
)
_CALL = re.compile(r"\b(?:LLM|AscendOptions|AsyncEngineArgs|EngineArgs)\s*\(")
_PLAIN = str.maketrans("“”‘’（），：＝［］｛｝　\u00a0", "\"\"''(),:=[]{}  ")
_PROMPT = re.compile(r"^(?:>>>|\.\.\.|In \[\d+\]:)\s?|^\s*(?:```|~~~).*$", re.MULTILINE)


def looks_like(text: str) -> bool:
    """Whether the text makes an engine in Python."""
    return _SIGN.search(text.translate(_PLAIN)) is not None


def python(text: str, pasted: Pasted) -> str:
    """Read the program into `pasted`; what is left of a text that is not all Python, for others to read."""
    cleaned = _PROMPT.sub("", text)
    for attempt in (cleaned, cleaned.translate(_PLAIN)):
        if (tree := _parsed(attempt)) is not None:
            _Program(attempt, pasted).all(tree)
            return ""
    return _calls_only(cleaned.translate(_PLAIN), pasted)


def _parsed(text: str) -> ast.Module | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(textwrap.dedent(text).strip())
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _calls_only(text: str, pasted: Pasted) -> str:
    """Where the whole does not parse: each call of an engine by itself, cut out by its brackets."""
    rest, at = [], 0
    for _ in range(MOST_CALLS):
        found = _CALL.search(text, at)
        if found is None:
            break
        end = _closing(text, found.end() - 1)
        call = text[found.start() : end]
        tree = _parsed(call)
        if tree is None:
            end = found.end()
            rest.append(text[at:end])
        else:
            rest.append(text[at : found.start()])
            _Program(call, pasted).all(tree)
        at = end
    left = "".join([*rest, text[at:]])
    named = re.search(r"\bAscendOptions\b", left)
    if named and not any(one.token == "AscendOptions" for one in pasted.findings):
        _never(named[0], pasted)
    return left


def _closing(text: str, at: int) -> int:
    """The place behind the bracket that closes the one at `at`."""
    deep, quote = 0, ""
    for place in range(at, len(text)):
        one = text[place]
        if quote:
            quote = "" if one == quote else quote
        elif one in "'\"":
            quote = one
        elif one in "([{":
            deep += 1
        elif one in ")]}":
            deep -= 1
            if deep == 0:
                return place + 1
    return len(text)


def _never(name: str, pasted: Pasted) -> None:
    why = say("Neither vLLM nor vllm-ascend has anything called {name}.", name=name)
    instead = say(
        "Give the arguments to LLM itself. Cards are chosen with ASCEND_RT_VISIBLE_DEVICES, and settings of the plugin "
        "go into additional_config."
    )
    pasted.find(name, why, instead)


class _Program:
    """One walk through a program, statement by statement."""

    def __init__(self, text: str, pasted: Pasted) -> None:
        self.text, self.pasted = textwrap.dedent(text).strip(), pasted
        self.names: dict[str, ast.expr] = {}

    def all(self, tree: ast.Module) -> None:
        for statement in tree.body:
            self._statement(statement)

    def _statement(self, node: ast.stmt) -> None:
        if isinstance(node, ast.Import | ast.ImportFrom):
            self._imported(node)
            return
        found = False
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            self.names[node.targets[0].id] = node.value
        for call in _calls(node):
            name = _name(call.func)
            if name in ENGINES or name in NEVER:
                found = True
                self._engine(name, call)
        found = self._environment(node) or found
        if not found:
            self.pasted.ignore(_why(node), [self._source(node)])

    def _imported(self, node: ast.Import | ast.ImportFrom) -> None:
        never = [one.name for one in node.names if one.name in NEVER]
        for name in never:
            if not any(one.token == name for one in self.pasted.findings):
                _never(name, self.pasted)
        if not never:
            self.pasted.ignore(say("It loads a module; nothing of a pasted program is run."), [self._source(node)])

    def _engine(self, name: str, call: ast.Call) -> None:
        if name in NEVER:
            self.pasted.kind = self.pasted.kind or "python"
            self.pasted.command = self.pasted.command or name
            if not any(one.token == name for one in self.pasted.findings):
                _never(name, self.pasted)
        else:
            self.pasted.kind, self.pasted.command = "python", name
            self.pasted.take(name)
        positional = [word for word in call.args if not (isinstance(word, ast.Call) and _name(word.func) in NEVER)]
        if positional and name in ENGINES:
            self.pasted.model = Word(str(self._value(positional[0])), self._source(positional[0]))
        for word in call.keywords:
            if isinstance(word.value, ast.Call) and _name(word.value.func) in (*NEVER, *ENGINES):
                continue  # it is walked by itself
            token = self._source(word) if word.arg else self._source(word.value)
            if word.arg == "model" and name in ENGINES:
                self.pasted.model = Word(str(self._value(word.value)), token)
            elif word.arg is not None:
                self._keyword(word.arg, word.value, token)
            else:
                self.pasted.ignore(say("What stands in there cannot be told without running it."), [token])

    def _keyword(self, name: str, node: ast.expr, token: str) -> None:
        value, option = self._value(node), f"--{name.replace('_', '-')}"
        if value is True or value is None:
            if value is None:
                self.pasted.ignore(say("It leaves the choice to the engine."), [token])
            else:
                self.pasted.keywords.append(Given(token, option))
        elif value is False:
            self.pasted.keywords.append(Given(token, f"--no-{option[2:]}"))
        elif isinstance(value, list | tuple):
            self.pasted.keywords.append(Given(token, option, tuple(Word.plain(str(one)) for one in value)))
        else:
            words = _json(value) if isinstance(value, dict) else str(value)
            self.pasted.keywords.append(Given(token, option, (Word.plain(words),)))

    def _environment(self, node: ast.stmt) -> bool:
        """os.environ["X"] = "y", and os.environ.setdefault("X", "y")."""
        pairs: list[tuple[ast.expr, ast.expr]] = []
        if isinstance(node, ast.Assign) and isinstance(target := node.targets[0], ast.Subscript):
            pairs += [(target.slice, node.value)] if ast.unparse(target.value) == "os.environ" else []
        for call in _calls(node):
            if ast.unparse(call.func) == "os.environ.setdefault" and len(call.args) == 2:
                pairs.append((call.args[0], call.args[1]))
        for name, value in pairs:
            self.pasted.variable(str(self._value(name)), str(self._value(value)), self._source(node))
        return bool(pairs)

    def _value(self, node: ast.expr, deep: int = 0) -> object:
        """A literal, or a name that was given one before; anything else as it is written."""
        if isinstance(node, ast.Name) and node.id in self.names and deep < 5:
            return self._value(self.names[node.id], deep + 1)
        if isinstance(node, ast.Call) and _name(node.func).endswith("Config") and deep < 5:
            return {str(word.arg): self._value(word.value, deep + 1) for word in node.keywords}
        try:
            return ast.literal_eval(node)
        except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
            return self._source(node)

    def _source(self, node: ast.AST) -> str:
        return ast.get_source_segment(self.text, node) or ""


def _calls(node: ast.AST) -> Iterator[ast.Call]:
    return (one for one in ast.walk(node) if isinstance(one, ast.Call))


def _name(node: ast.expr) -> str:
    """The last part of what is called; `AsyncLLMEngine.from_engine_args` makes nothing new."""
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def _json(value: dict[object, object]) -> str:
    try:
        return json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        return str(value)


def _why(node: ast.stmt) -> Text:
    names = {_name(call.func) for call in _calls(node)}
    if names & set(OF_REQUESTS):
        return say("It belongs to requests, not to the server; see the page Playground.")
    return say("It makes no engine.")

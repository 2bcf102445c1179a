"""Keep the Chinese catalog in step with the code.

python scripts/translations.py           list what is missing, superfluous or wrong; exit code 1 if anything is
python scripts/translations.py --merge   also write the missing sentences into the catalog, untranslated, and drop
                                         those that the code no longer says; translations present are kept
"""

import argparse
import ast
import string
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from babel.messages.catalog import Catalog
from babel.messages.pofile import read_po, write_po

ROOT = Path(__file__).resolve().parent.parent
CATALOG = Path("assets/locale/zh/LC_MESSAGES/console.po")
HEADER = b"""\
# The console in Chinese. Sentences are brought in by scripts/translations.py --merge; the Chinese is written here.
msgid ""
msgstr ""
"Language: zh\\n"
"MIME-Version: 1.0\\n"
"Content-Type: text/plain; charset=utf-8\\n"
"Content-Transfer-Encoding: 8bit\\n"
"Plural-Forms: nplurals=1; plural=0;\\n"

"""
SPOKEN = ("say", "t")
"""Functions whose first argument is a sentence for people and must be a literal."""


@dataclass(frozen=True)
class Call:
    """One place that says something. `sentence` is None if it is not a literal; `values` is None if not known."""

    file: str
    line: int
    function: str
    sentence: str | None
    values: frozenset[str] | None

    @property
    def place(self) -> str:
        return f"{self.file}:{self.line}"


@dataclass(frozen=True)
class Pair:
    """A text in a YAML catalog that stands in both languages, or should."""

    place: str
    en: object
    zh: object


def calls(root: Path) -> list[Call]:
    """Every say(...), t(...) and literal Text(...) in console/ and pages/."""
    found = []
    for folder in ("console", "pages"):
        for path in sorted((root / folder).rglob("*.py")):
            tree = ast.parse(path.read_text(), str(path))
            found += [
                call
                for node in ast.walk(tree)
                if isinstance(node, ast.Call)
                for call in _call(node, path.relative_to(root))
            ]
    return found


def _call(node: ast.Call, file: Path) -> Iterator[Call]:
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    literal = node.args[0].value if node.args and isinstance(node.args[0], ast.Constant) else None
    sentence = literal if isinstance(literal, str) else None
    if name in SPOKEN:
        named = [keyword.arg for keyword in node.keywords]
        values = None if None in named else frozenset(str(one) for one in named)
        yield Call(file.as_posix(), node.lineno, name, sentence, values)
    elif name == "Text" and sentence is not None:
        yield Call(file.as_posix(), node.lineno, name, sentence, None)


def pairs(root: Path) -> list[Pair]:
    """Every mapping with `en` or `zh` in console/catalog/*.yaml."""
    found = []
    for path in sorted((root / "console" / "catalog").rglob("*.yaml")):
        found += _pairs(yaml.safe_load(path.read_text()), path.relative_to(root).as_posix())
    return found


def _pairs(node: Any, place: str) -> Iterator[Pair]:
    if isinstance(node, dict):
        if "en" in node or "zh" in node:
            yield Pair(place, node.get("en"), node.get("zh"))
        for name, value in node.items():
            yield from _pairs(value, f"{place}:{name}")
    elif isinstance(node, list):
        for number, value in enumerate(node):
            yield from _pairs(value, f"{place}:{number}")


def placeholders(sentence: str) -> frozenset[str]:
    """The names in braces; none where the braces do not pair and so are only braces."""
    return frozenset(name for _, name in _parts(sentence) if name is not None)


def needs_translation(sentence: str) -> bool:
    """False for sentences of nothing but values and signs, such as "{words}"."""
    return any(sign.isalpha() for words, _ in _parts(sentence) for sign in words)


def _parts(sentence: str) -> list[tuple[str, str | None]]:
    try:
        return [(words, name) for words, name, _, _ in string.Formatter().parse(sentence)]
    except ValueError:
        return [(sentence, None)]


def read(root: Path) -> Catalog:
    path = root / CATALOG
    if not path.exists():
        return Catalog(locale="zh")
    with path.open("rb") as lines:
        return read_po(lines, locale="zh", abort_invalid=True)


def troubles(root: Path) -> list[str]:
    """One sentence for each thing that a reader would see wrong."""
    said, catalog = calls(root), read(root)
    literal = [call for call in said if call.sentence is not None]
    wanted = {str(call.sentence): call.place for call in literal if needs_translation(str(call.sentence))}
    found = [f"{call.place}: say() and t() take a literal sentence" for call in said if call.sentence is None]
    found += [f"{call.place}: {call.sentence!r} names values that are not given" for call in literal if _lacks(call)]
    entries = {str(entry.id): entry for entry in catalog if entry.id}
    for sentence, place in sorted(wanted.items()):
        entry = entries.get(sentence)
        if entry is None or not entry.string or entry.fuzzy:
            found.append(f"{place}: no Chinese for {sentence!r}")
        elif placeholders(sentence) != placeholders(str(entry.string)):
            found.append(f"{place}: the Chinese of {sentence!r} has other {{values}}")
    gone = sorted(entries.keys() - wanted.keys()) + sorted(str(name) for name in catalog.obsolete)
    found += [f"{CATALOG}: nobody says {sentence!r} any more" for sentence in gone]
    return found + [trouble for pair in pairs(root) for trouble in _pair_troubles(pair)]


def _lacks(call: Call) -> bool:
    # say() without any value may be filled in later, or show braces that are only braces; t() shows at once.
    if call.values is None or (not call.values and call.function != "t"):
        return False
    return any(name.isidentifier() for name in placeholders(str(call.sentence)) - call.values)


def _pair_troubles(pair: Pair) -> Iterator[str]:
    if not pair.en or not pair.zh:
        yield f"{pair.place}: {'en' if not pair.en else 'zh'} is missing"
    elif isinstance(pair.en, str) and isinstance(pair.zh, str) and placeholders(pair.en) != placeholders(pair.zh):
        yield f"{pair.place}: en and zh have different {{values}}"


def merge(root: Path) -> None:
    """Write the catalog anew: what the code says, sorted, each with its files and the translation it had."""
    before = read(root)
    after = Catalog(locale="zh")
    for call in calls(root):
        if call.sentence is not None and needs_translation(call.sentence):
            kept = before.get(call.sentence)
            after.add(call.sentence, kept.string if kept else "", locations=[(call.file, call.line)])
    path = root / CATALOG
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as lines:
        # Files without line numbers: those change with every edit above them.
        lines.write(HEADER)
        write_po(lines, after, sort_output=True, omit_header=True, include_lineno=False, width=120)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--merge", action="store_true", help="write missing sentences into the catalog")
    if parser.parse_args().merge:
        merge(ROOT)
    found = troubles(ROOT)
    for trouble in found:
        print(trouble)
    print(f"{len(found)} to mend", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

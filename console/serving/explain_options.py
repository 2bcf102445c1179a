"""Turns the options of a paste into settings of a server, and says what is wrong in them."""

import re
from collections.abc import Iterator
from typing import Any

from console.catalog import flags, parsers
from console.catalog.parsers import Option
from console.serving import known
from console.serving.explain_json import take_dotted, take_json
from console.serving.explain_parts import HIDDEN, Given, Settings, Word
from console.serving.explain_variables import OWN_KEY, VISIBLE, devices, open_trouble, variable
from console.serving.explain_words import braces_joined, is_open
from console.serving.options import BESIDE, OF_OPTION
from console.text import say

TRUTHS = ("true", "false", "1", "0", "yes", "no", "on", "off")
"""What people write behind a switch, which takes nothing."""
MARKS = (",", "，", "。", "、", "！", "!")
"""Marks of a sentence that stand alone."""
_NEGATIVE = re.compile(r"-\d+(\.\d+)?")


class Options:
    """One pass over the options of a paste, into `settings`."""

    def __init__(self, settings: Settings) -> None:
        self.settings, self.pasted = settings, settings.pasted
        self.release, self.family, self.parser = settings.release, settings.family, settings.parser
        self.fields, self.extra = settings.fields, settings.extra
        self.tokens, self.switched = settings.tokens, settings.switched

    def all(self) -> None:
        for given in self._last([*self._given(list(braces_joined(self.pasted.words))), *self.pasted.keywords]):
            self.option(given)
        for name, (value, token) in self.pasted.env.items():
            variable(self.settings, name, value, token)
        self._beside()
        if self.extra:
            self.fields["extra_args"] = tuple(self.extra)

    def _last(self, given: list[Given]) -> Iterator[Given]:
        """Of an option that is given several times the last one counts, as for vLLM; parts of one are put together."""
        names = [found[0] if (found := known.meant(one.name, self.release)) else one.name for one in given]
        options = [self.parser.by_name[name].name if name in self.parser.by_name else name for name in names]
        last = {option: at for at, option in enumerate(options)}
        for at, one in enumerate(given):
            if "." in one.name or last[options[at]] == at:
                yield one
            else:
                words = [one.token, *(word.raw for word in one.values)]
                why = say("It is given again later, and the last one counts.")
                self.pasted.ignore(why, [one.name, HIDDEN] if options[at] == "--api-key" else words)

    def _given(self, words: list[Word]) -> Iterator[Given]:
        """Options with their values; the first word that belongs to none is the model."""
        at = 0
        while at < len(words):
            word = words[at]
            at += 1
            if word.text in MARKS:
                self.pasted.find(word.raw, say("A shell takes this mark for a word."), say("Leave it out."))
                continue
            if not _is_option(word.text):
                if self.pasted.model is None:
                    self.pasted.model = word
                else:
                    self.pasted.find(
                        word.raw, say("It belongs to no option, and there is a model already."), say("Leave it out.")
                    )
                continue
            name, is_joined, value = _parts(word.text)
            name = parsers.dashed([name])[0]
            if (level := re.fullmatch(r"-O=?(\d)", word.text)) is not None:
                is_level = "--optimization-level" in self.parser.by_name
                name = "--optimization-level" if is_level else "--compilation-config"
                is_joined, value = "=", level[1]
            if is_joined:
                yield Given(word.raw, name, (Word(value, word.raw.partition("=")[2]),))
                continue
            most = self._takes(name) or (1 if at < len(words) and words[at].text.lower() in TRUTHS else 0)
            end = at
            if most and [one.text for one in words[at : at + 1]] == ["="]:
                why = say("A shell wants no blanks around the equals sign.")
                at = end = at + 1
                together = f"{word.text}={words[at].text if at < len(words) else ''}"
                self.pasted.find(f"{word.raw} =", why, say("Write {instead}.", instead=together))
            while end < len(words) and end - at < most and not _is_option(words[end].text):
                if words[end].text in MARKS:
                    break
                end += 1
            if self.pasted.model is None and end == len(words) and end - at > 1 and most > 1:
                end -= 1  # the model behind an option that takes several words
            yield Given(word.raw, name, tuple(words[at:end]))
            at = end

    def _takes(self, name: str) -> int:
        if "." in name:
            return 1
        found = known.meant(name, self.release)
        if found is None:
            every = next((one for one in parsers.releases() if name in parsers.parser_of(one).by_name), None)
            found = known.meant(name, every) if every else None
        if found is None:
            return 1
        kind = found[1].kind
        return {"switch": 0, "toggle": 0, "list": 999}.get(kind, 1)

    def option(self, given: Given) -> None:
        """One option: a setting, an argument that is carried on, or a finding."""
        base, dot, path = given.name.partition(".")
        if base in ("--model", "--model-tag"):
            self.pasted.model = Word(given.value, " ".join([given.token, *(word.raw for word in given.values)]))
            return
        if base == "--api-key":
            self._key(given)
            return
        positive = self.parser.by_name.get(f"--{base.removeprefix('--no-')}") if base.startswith("--no-") else None
        if positive is not None and self.pasted.kind == "python" and positive.kind in ("switch", "maybe"):
            self._off(given, positive)
            return
        trouble = known.option_trouble(base, given.value, self.release)
        if trouble is not None:
            self._wrong(given, trouble)
            return
        found = known.meant(base, self.release)
        if found is None:
            return
        name, option = found
        if dot:
            take_dotted(self.settings, given, option, path)
        else:
            self._known(given, name, option)

    def _wrong(self, given: Given, trouble: known.Trouble) -> None:
        self.pasted.find(given.token, trouble.problem, trouble.instead, given.raw)
        if len(trouble.replace) == 2 and trouble.replace[0] in VISIBLE:
            devices(self.settings, trouble.replace[1], given.token)
        elif len(trouble.replace) == 2:
            name, value = trouble.replace
            option = self.parser.by_name.get(name)
            is_free = OF_OPTION.get(name) not in self.fields
            if option is not None and is_free and known.value_trouble(name, option, value) is None:
                self._set(Given(given.token, name, (Word.plain(value),)), option)

    def _known(self, given: Given, name: str, option: Option) -> None:
        if name == option.opposite:
            self._switched(given, option, on=False)
            return
        if option.kind in ("switch", "toggle"):
            self._switched(given, option, on=True)
            if given.values:
                self._of_switch(given, option)
            return
        if not given.values and option.kind != "maybe":
            why = say("{name} takes a value, and none is there.", name=option.name)
            self.pasted.find(given.token, why, say("Write the value behind it, or leave the option out."))
            return
        if is_open(given.value):
            self.settings.open.add(OF_OPTION.get(option.name, option.name))
        trouble = open_trouble(given.value) or known.value_trouble(option.name, option, given.value)
        if trouble is not None:
            self.pasted.find(given.token, trouble.problem, trouble.instead, given.raw)
            return
        self._set(given, option)

    def _off(self, given: Given, option: Option) -> None:
        """A keyword that is False, of an option that the command line cannot negate."""
        if option.kind == "maybe":
            self._set(Given(given.token, option.name, (Word.plain("False"),)), option)
        else:
            self.pasted.take(given.token)

    def _of_switch(self, given: Given, option: Option) -> None:
        """`--enforce-eager=true`, or a Python keyword with a word for a truth."""
        why = say("{name} takes no value.", name=option.name)
        instead = option.opposite if given.value.lower() in ("false", "0") and option.opposite else option.name
        self.pasted.find(given.token, why, say("Write {instead}.", instead=instead), given.raw)

    def _switched(self, given: Given, option: Option, *, on: bool) -> None:
        field = OF_OPTION.get(option.name)
        if field is not None:
            self.fields[field] = on
            self.tokens[field] = given.token
        elif option.name in BESIDE.values():
            self.switched[option.name] = given.token
        elif on or option.default is not False:
            self.extra.append(option.name if on or not option.opposite else option.opposite)
            self.settings.carried[option.name] = given.token
        self.pasted.take(given.token)

    def _set(self, given: Given, option: Option) -> None:
        field = OF_OPTION.get(option.name)
        tokens = [given.token, *(word.raw for word in given.values)]
        if option.name in ("--served-model-name", "--host", "--port"):
            self._server(given, option.name)
        elif option.kind == "json" or (field and option.name.endswith("-config")):
            take_json(self.settings, given, option, field)
            return
        elif field is None:
            self._carried(given, option)
        else:
            value = self._value(given, option)
            if value is None:
                self.extra += [option.name, *(word.text for word in given.values)]
            else:
                self.fields[field] = value
                self.tokens[field] = given.token
        if field == "quantization" and (trouble := self._of_method(given.value)):
            self.pasted.find(given.token, trouble.problem, trouble.instead, given.raw)
            del self.fields["quantization"]
        elif field in ("reasoning_parser", "tool_parser"):
            self._parser(given, str(field))
        self.pasted.take(*tokens)

    def _of_method(self, value: str) -> known.Trouble | None:
        found = known.method_trouble(value, self.release, self.family)
        return found or (known.method_doubt(value, self.release) if self.family is None else None)

    def _parser(self, given: Given, field: str) -> None:
        names = self.parser.reasoning_parsers if field == "reasoning_parser" else self.parser.tool_parsers
        if given.value not in names and not any("parser-plugin" in one.text for one in self.pasted.words):
            close = flags.near(given.value, names)
            why = say("vllm-ascend {release} has no parser '{name}'.", release=self.release, name=given.value)
            instead = (
                say("{near} may be meant.", near=close)
                if close
                else say("Choose one of: {names}.", names=", ".join(names))
            )
            self.pasted.find(given.token, why, instead, given.raw)
            del self.fields[field]

    def _value(self, given: Given, option: Option) -> Any:
        """As the field of the setting has it; None if the field cannot say it."""
        text = given.value
        if option.kind == "list":
            return tuple(word.text for word in given.values)
        if option.kind == "maybe":
            return text.lower() not in ("false", "0") if given.values else True
        if option.kind == "tokens":
            number = -1 if text.lower() == "auto" else parsers.number_of_tokens(text)
            return number if number > 0 else None
        if option.kind == "int":
            return int(text)
        return float(text) if option.kind == "float" else text

    def _carried(self, given: Given, option: Option) -> None:
        self.extra += [option.name, *(word.text for word in given.values)]
        self.settings.carried[option.name] = given.token
        if option.name == "--attention-backend" and given.value.lower().startswith(known.CUDA_VALUES):
            why = say("{value} is for GPUs; on NPUs the plugin chooses the attention kernels.", value=given.value)
            self.pasted.find(given.token, why, say("Leave it out."), given.raw)
            del self.extra[-2:]

    def _server(self, given: Given, name: str) -> None:
        if name == "--served-model-name":
            self.fields["served_name"] = given.values[0].text
            more = say("The console gives a server one name.")
            self.pasted.ignore(more, [word.raw for word in given.values[1:]])
        elif name == "--host":
            self.fields["host"] = given.value
        else:
            self.fields["port"] = int(given.value)

    def _key(self, given: Given) -> None:
        self.fields["api_key"] = True
        self.pasted.take(given.token.partition("=")[0])
        self.pasted.ignore(OWN_KEY, [HIDDEN] * max(1, len(given.values)))

    def _beside(self) -> None:
        """Options that do nothing without another one."""
        for field, switch in BESIDE.items():
            option = next(option for option, name in OF_OPTION.items() if name == field)
            if field in self.fields and switch not in self.switched:
                why = say("{option} does nothing without {switch}.", option=option, switch=switch)
                if self.pasted.kind != "python":
                    self.pasted.find(self.tokens.get(field, option), why, say("Add {switch}.", switch=switch))
            elif switch in self.switched and field in self.tokens:
                continue  # the option is there, and what is wrong with it is said already
            elif switch in self.switched and field not in self.fields and switch == "--enable-auto-tool-choice":
                why = say("{switch} stops the server without {option}.", switch=switch, option=option)
                self.pasted.find(
                    self.switched[switch], why, say("Add {option} with the parser of the model.", option=option)
                )
            elif switch in self.switched and field not in self.fields:
                self.extra.append(switch)


def _parts(text: str) -> tuple[str, str, str]:
    """Name and value of `--name=value`; a colon is taken for the sign where it stands right behind a name."""
    found = re.fullmatch(r"(--?[A-Za-z][\w.-]*):(.*)", text, re.DOTALL)
    if found is None or "=" in text:
        return text.partition("=")
    return (found[1], "=", found[2]) if found[2] else (found[1], "", "")


def _is_option(text: str) -> bool:
    return text.startswith("-") and len(text) > 1 and not _NEGATIVE.fullmatch(text)

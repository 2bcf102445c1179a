"""Hosts from a CSV file as people write it in Excel: headings in English or Chinese, in whatever encoding it saves."""

import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence

from console.errors import InvalidInput
from console.hosts.importing import Left, Read, Wanted
from console.hosts.reach import Sudo, jumps, key_path
from console.sheet import sheet
from console.text import Text, say, verbatim

MOST_BYTES, MOST_ROWS = 2_000_000, 5000
COLUMNS = ("name", "address", "port", "user", "key", "jump", "sudo", "folder", "tags")
HEADINGS: Mapping[str, Sequence[str]] = {
    "name": ("name", "host", "host name", "alias", "名称", "名字", "主机", "主机名", "主机名称", "别名"),
    "address": ("address", "addr", "ip", "ip address", "hostname", "地址", "ip地址", "主机地址", "主机ip"),
    "port": ("port", "ssh port", "端口", "端口号", "ssh端口"),
    "user": ("user", "username", "user name", "login", "用户", "用户名", "账号", "帐号", "登录名"),
    "key": ("key", "key file", "keyfile", "identity file", "identityfile", "密钥", "密钥文件", "私钥", "私钥文件"),
    "jump": ("jump", "jumps", "jump host", "jump hosts", "proxyjump", "bastion", "跳板", "跳板机", "堡垒机"),
    "sudo": ("sudo", "sudo权限", "提权"),
    "folder": ("folder", "work folder", "work dir", "workdir", "目录", "工作目录", "工作文件夹"),
    "tags": ("tags", "tag", "group", "groups", "标签", "分组"),
}
PASSWORDS = ("password", "passwd", "pass", "passphrase", "pwd", "密码", "口令", "登录密码", "root密码", "密码短语")
SUDO: Mapping[str, Sudo] = {
    **dict.fromkeys(("none", "no", "n", "否", "无", "没有"), Sudo.NONE),
    **dict.fromkeys(("nopasswd", "yes", "y", "是", "免密", "免密码", "无需密码"), Sudo.NOPASSWD),
    **dict.fromkeys(("password", "with password", "密码", "需要密码", "需密码"), Sudo.PASSWORD),
}
TEMPLATE_ROWS = (
    ("npu-1", "192.0.2.11", "22", "root", "~/.ssh/id_ed25519", "", "", "/data/ascend-pilot", "rack-1 910b"),
    ("npu-2", "192.0.2.12", "22", "ops", "", "ops@192.0.2.1:22", "nopasswd", "", "rack-1"),
)
HEADS_ZH = ("名称", "地址", "端口", "用户", "密钥文件", "跳板机", "sudo", "工作目录", "标签")


def read_csv(data: bytes) -> Read:
    """Every row as a host, or why it is none with its line. InvalidInput when the file as a whole cannot be read."""
    if len(data) > MOST_BYTES:
        raise InvalidInput(say("The file is larger than {size} MB; a list of hosts is not.", size=MOST_BYTES // 10**6))
    text = _decoded(data)
    delimiter, skipped = _delimiter(text)
    rows = _rows(text, delimiter, skipped)
    heading = next(rows, None)
    if heading is None:
        raise InvalidInput(say("The file is empty. The template shows the columns."))
    columns, remarks = _columns(heading[1])
    found: list[Wanted | Left] = []
    for line, cells in rows:
        if len(found) == MOST_ROWS:
            raise InvalidInput(say("The file has more than {most} rows.", most=MOST_ROWS))
        found.append(_row(str(line), cells, columns, len(heading[1])))
    return Read(found, remarks)


def template(language: str) -> bytes:
    """A file to fill in, with two examples."""
    return sheet(HEADS_ZH if language == "zh" else COLUMNS, TEMPLATE_ROWS)


def evident(data: bytes) -> bool:
    """Whether this looks like a list of hosts with headings."""
    try:
        text = _decoded(data)
        delimiter, skipped = _delimiter(text)
        heading = next(_rows(text, delimiter, skipped), None)
        return heading is not None and {"name", "address"} <= set(_columns(heading[1])[0].values())
    except InvalidInput:
        return False


def _decoded(data: bytes) -> str:
    """Excel writes UTF-8 with a mark, the national encoding without one, or (as "Unicode text") UTF-16."""
    marked = data.startswith((b"\xff\xfe", b"\xfe\xff"))
    for encoding in ("utf-16",) if marked else ("utf-8-sig", "gb18030"):
        try:
            text = data.decode(encoding)
        except UnicodeDecodeError:
            continue
        if "\x00" not in text:
            return text.replace("\r\n", "\n").replace("\r", "\n")
    raise InvalidInput(say("The file is no text: neither UTF-8 nor GBK. In Excel, save it as “CSV UTF-8”."))


def _delimiter(text: str) -> tuple[str, int]:
    """What stands between the cells, and how many lines come before the headings (Excel's `sep=;`)."""
    first = text.partition("\n")[0]
    if (said := re.fullmatch(r"\s*sep=(.)\s*", first)) is not None:
        return said[1], 1
    heading = next((line for line in text.split("\n") if line.strip()), "")
    return max(",;\t，|", key=lambda sign: len(_known(heading.split(sign)))), 0


def _rows(text: str, delimiter: str, skipped: int) -> Iterator[tuple[int, list[str]]]:
    """Line number and cells of each row that is not empty; a quoted cell may hold line ends."""
    body = text.partition("\n")[2] if skipped else text
    table = csv.reader(io.StringIO(body, newline=""), delimiter=delimiter, strict=True)
    line = 1 + skipped
    while True:
        try:
            cells = next(table, None)
        except csv.Error as error:
            raise InvalidInput(
                say(
                    "Line {line} cannot be read: {error}. Usually a quotation mark is missing or stands inside a cell.",
                    line=line,
                    error=str(error),
                )
            ) from error
        if cells is None:
            return
        if any(cell.strip() for cell in cells):
            yield line, [cell.strip() for cell in cells]
        line = table.line_num + 1 + skipped


def _columns(heading: Sequence[str]) -> tuple[dict[int, str], list[Text]]:
    """Which cell is which field. InvalidInput when something is missing, there twice, or must not be there."""
    known = _known(heading)
    if secret := [words for words in heading if _folded(words) in PASSWORDS]:
        raise InvalidInput(
            say(
                "The column “{column}” holds passwords. The console stores none, and a list of them should not lie "
                "around: take the column out. A password is typed once in the form of a host, which puts the console's "
                "key there, or its public key is put on the hosts by whoever manages them.",
                column=secret[0],
            )
        )
    twice = [name for name in COLUMNS if list(known.values()).count(name) > 1]
    missing = [name for name in ("name", "address") if name not in known.values()]
    if twice or missing:
        names = ", ".join(f"{name} ({HEADS_ZH[COLUMNS.index(name)]})" for name in twice or missing)
        said = say("These columns are there twice: {names}.", names=names)
        lacks = say("The first line must name the columns; missing: {names}. The template shows them all.", names=names)
        raise InvalidInput(said if twice else lacks)
    strange = [words for number, words in enumerate(heading) if words and number not in known]
    if strange:
        return known, [say("These columns mean nothing here and are not read: {names}.", names=", ".join(strange))]
    return known, []


def _known(heading: Sequence[str]) -> dict[int, str]:
    by_words = {words: name for name, every in HEADINGS.items() for words in every}
    return {number: by_words[_folded(words)] for number, words in enumerate(heading) if _folded(words) in by_words}


def _folded(words: str) -> str:
    """A heading without case, quotes, blanks around and what stands in brackets."""
    bare = re.sub(r"[(（].*?[)）]|[\"“”*]", "", words).strip().lower()
    return re.sub(r"[\s_-]+", " ", bare)


def _row(line: str, cells: Sequence[str], columns: Mapping[int, str], width: int) -> Wanted | Left:
    given = {columns[number]: words for number, words in enumerate(cells) if number in columns and words}
    name = given.get("name", "")
    if any(cells[width:]):
        return Left(
            line,
            name or "–",
            say("It has more cells than there are headings: put a cell that holds the separator in quotation marks."),
        )
    try:
        return _wanted(line, given)
    except InvalidInput as error:
        return Left(line, name or given.get("address", "–"), error.text)


def _wanted(line: str, given: Mapping[str, str]) -> Wanted:
    for column in ("name", "address"):
        if column not in given:
            raise InvalidInput(say("The cell for “{column}” is empty.", column=column))
    user, port, sudo = given.get("user"), given.get("port"), given.get("sudo")
    if port is not None and not re.fullmatch(r"\d+(\.0)?", port):
        raise InvalidInput(say("{port} is no port; ports go from 1 to 65535.", port=port))
    if sudo is not None and sudo.lower() not in SUDO:
        raise InvalidInput(
            say("“{words}” says nothing of sudo. Write none, nopasswd or password.", words=verbatim(sudo))
        )
    hops = re.sub(r"[;；，、>→\s]+", ",", given.get("jump", ""))
    return Wanted(
        place=line,
        name=given["name"],
        address=given["address"],
        port=None if port is None else int(float(port)),
        user=user,
        key_file=key_path(given["key"]) if "key" in given else None,
        jumps=jumps([hops], user or "root") if "jump" in given else None,
        sudo=None if sudo is None else SUDO[sudo.lower()],
        tags=tuple(re.split(r"[\s,;，；、]+", given["tags"].strip())) if "tags" in given else None,
        work_folder=given.get("folder"),
    )

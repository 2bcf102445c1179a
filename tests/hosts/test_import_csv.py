"""CSV as people write it in Excel, in English and Chinese, and what is wrong with it line by line."""

import codecs

import pytest

from console.errors import InvalidInput
from console.hosts.host_csv import TEMPLATE_ROWS, evident, read_csv, template
from console.hosts.importing import Left, Wanted
from console.hosts.reach import Jump, Sudo

ENGLISH = "name,address,port,user,key,jump,sudo,folder,tags\n"
CHINESE = "名称,地址,端口,用户,密钥文件,跳板机,sudo,工作目录,标签\n"
ROW = 'npu-1,10.0.0.5,2222,ops,/k/id,"me@10.0.0.1:2200, 10.0.0.2",nopasswd,/data/p,"rack-1 910b"\n'
WANTED = Wanted(
    place="2",
    name="npu-1",
    address="10.0.0.5",
    port=2222,
    user="ops",
    key_file="/k/id",
    jumps=(Jump("10.0.0.1", 2200, "me"), Jump("10.0.0.2", 22, "ops")),
    sudo=Sudo.NOPASSWD,
    tags=("rack-1", "910b"),
    work_folder="/data/p",
)


def why(text: str, number: int = 0) -> str:
    one = read_csv(text.encode()).found[number]
    assert isinstance(one, Left)
    return f"{one.place}: {one.why}"


@pytest.mark.parametrize("head", [ENGLISH, CHINESE, "主机名,IP,SSH端口,用户名,私钥,堡垒机,SUDO,目录,分组\n"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "gb18030", "utf-16"])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_headings_encodings_and_line_ends(head: str, encoding: str, newline: str) -> None:
    data = (head + ROW).replace("\n", newline).encode(encoding)
    assert read_csv(data).found == [WANTED]


@pytest.mark.parametrize("sign", [";", "\t", "|"])
def test_other_separators(sign: str) -> None:
    text = "name;address;tags\na;10.0.0.1;x y\n".replace(";", sign)
    (one,) = read_csv(text.encode()).found
    assert isinstance(one, Wanted)
    assert (one.name, one.address, one.tags, one.port) == ("a", "10.0.0.1", ("x", "y"), None)
    (two,) = read_csv(b"sep=;\nname;address\nb;10.0.0.2\n").found
    assert (two.name, two.place) == ("b", "3")


def test_empty_lines_and_columns_that_mean_nothing() -> None:
    read = read_csv('\n\nName , Address ,备注\n\na,10.0.0.1,x\n,,\n"b\n",10.0.0.2,\nc,10.0.0.3,\n'.encode())
    assert [(one.place, one.name) for one in read.found] == [("5", "a"), ("7", "b"), ("9", "c")]
    assert [str(one) for one in read.remarks] == ["These columns mean nothing here and are not read: 备注."]


@pytest.mark.parametrize(
    ("row", "said"),
    [
        (",10.0.0.1,22,a,,,,,", "2: The cell for “name” is empty."),
        ("a,,22,a,,,,,", "2: The cell for “address” is empty."),
        ("a,10.0.0.1,ssh,a,,,,,", "2: ssh is no port; ports go from 1 to 65535."),
        ("a,10.0.0.1,22,a,,,maybe,,", "2: “maybe” says nothing of sudo. Write none, nopasswd or password."),
        ("a,10.0.0.1,22,a,,me@:x,,,", "2: me@:x is no jump host. Write it as user@host:port."),
        ("a,10.0.0.1,22,a,,,,,rack,910b", "2: It has more cells than there are headings"),
    ],
)
def test_what_is_wrong_is_told_by_line(row: str, said: str) -> None:
    assert why(ENGLISH + row + "\n").startswith(said)


def test_one_bad_row_costs_the_others_nothing() -> None:
    read = read_csv(b"name,address,port\na,10.0.0.1,x\nb,10.0.0.2,22.0\n")
    assert [type(one) for one in read.found] == [Left, Wanted]
    assert read.found[1].port == 22  # type: ignore[union-attr]


@pytest.mark.parametrize("column", ["password", "Passwd", "密码", "root密码", "口令（root）"])
def test_passwords_are_refused_and_never_repeated(column: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        read_csv(f"name,address,{column}\na,10.0.0.1,hunter2\n".encode())
    assert "stores none" in str(caught.value)
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "The file is empty"),
        (b"\n\n", "The file is empty"),
        (b"name,port\na,22\n", "missing: address (地址)"),
        (b"a,10.0.0.1\n", "missing: name (名称), address (地址)"),
        (b"name,address,ip\n", "there twice: address (地址)"),
        (b'name,address\na,"10.0.0.1\n', "Line 2 cannot be read"),
        (b'name,address\na,"10.0.0.1"x\n', "Line 2 cannot be read"),
        (b"\x89PNG\r\n\x1a\n\x00\x00\xff", "The file is no text"),
        (b"x" * 2_000_001, "larger than 2 MB"),
    ],
)
def test_a_file_that_cannot_be_read(data: bytes, said: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        read_csv(data)
    assert said in str(caught.value)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_template_is_read_as_it_is(language: str) -> None:
    data = template(language)
    assert data.startswith(codecs.BOM_UTF8)
    first, second = read_csv(data).found
    assert isinstance(first, Wanted)
    assert isinstance(second, Wanted)
    assert [first.name, second.name] == [row[0] for row in TEMPLATE_ROWS]
    assert second.jumps == (Jump("192.0.2.1", 22, "ops"),)
    assert (second.sudo, second.work_folder, first.tags) == (Sudo.NOPASSWD, None, ("rack-1", "910b"))


def test_what_is_no_list_of_hosts_is_not_evident() -> None:
    assert evident((CHINESE + ROW).encode("gb18030"))
    assert not any(evident(data) for data in (b"", b"Host a\n", b"name,port\n", b'"', b"\x00\xff\xfe"))

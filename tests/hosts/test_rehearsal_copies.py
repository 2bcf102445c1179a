"""What a rehearsal host takes of the machine's folders while others change them."""

from pathlib import Path

from console.hosts.rehearsal_copies import copy, take, to_leave


def test_what_vanishes_between_list_and_look_is_left_out(tmp_path: Path) -> None:
    gone, there = tmp_path / "subuid+", tmp_path / "there"
    assert to_leave(gone)
    copy(gone, there)
    assert not there.exists()


def test_what_is_ours_or_a_link_stays_as_it_is(tmp_path: Path) -> None:
    lower, upper = tmp_path / "lower", tmp_path / "upper"
    for place in (lower / "ours", upper):
        place.mkdir(parents=True)
    (lower / "link").symlink_to("nowhere")
    take(lower, upper, 2)
    assert list(upper.iterdir()) == []

"""The calculator against sums done by hand, against what must always hold, and against itself."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from console.catalog.models import models
from console.catalog.quantizations import Scheme, scheme, schemes
from console.catalog.recipes import Recipe, recipes
from console.serving.ask_fit import card_named, recipe_answer
from console.serving.fit import CARDS, fit, table
from console.serving.layout import Layout, all_bytes, stages, weight_bytes
from console.serving.reserve import reserve
from console.serving.room import Wish, card
from console.serving.shape import Shape, kv_bytes_per_token, numbers, shape_of, total
from tests.serving.fitting import GIB, LARGE, MIB, SMALL, asked, model

COMPUTABLE = [one for one in models() if one.computable]
SHAPES = [shape_of(one) for one in COMPUTABLE]
NAMES = [one.name for one in COMPUTABLE]


def test_qwen3_32b_by_hand() -> None:
    """64 layers of 5120: 2 x 5120 x 64 x 128 for query and output, 2 x 5120 x 8 x 128 for key and value, 3 x 5120 x
    25600 for the rest, two norms; and a table of 151936 x 5120 at each end."""
    layer = 2 * 5120 * 8192 + 2 * 5120 * 1024 + 3 * 5120 * 25600 + 2 * 5120
    table_numbers = 151936 * 5120
    shape = model("Qwen3-32B")
    assert total(shape, numbers(shape)) == 64 * layer + 2 * table_numbers
    eight = 64 * (layer - 2 * 5120) + 2 * 64 * 2 * 5120 + 2 * 2 * table_numbers
    assert all_bytes(shape, scheme("w8a8")) == eight
    one_of_two = weight_bytes(shape, scheme("w8a8"), Layout(tp=2), stages(64, 1)[0])
    assert one_of_two == eight / 2 + 64 * 2 * 5120  # norms are whole on both


def test_deepseek_r1_by_hand() -> None:
    attention = 7168 * 1536 + 1536 * 128 * 192 + 7168 * 576 + 512 * 128 * 256 + 128 * 128 * 7168
    expert = 3 * 7168 * 2048
    norms_and_router = 2 * 7168 + 7168 * 256
    by_hand = 61 * (attention + norms_and_router) + 3 * 3 * 7168 * 18432 + 58 * 257 * expert + 2 * 129280 * 7168
    shape = model("DeepSeek-R1")
    assert total(shape, numbers(shape)) == by_hand
    assert by_hand == pytest.approx(671e9, rel=0.001)


def test_the_answer_of_the_readme_by_hand() -> None:
    answer = asked("Qwen3-32B", quantization="w8a8", context=32768, concurrency=8)
    room = answer.room
    assert room.total == 32768 * MIB
    assert room.usable == int((32768 - 3450) * MIB * 0.89)
    assert room.kv == 8 * 32768 * 64 * 2 * 4 * 128 * 2
    assert room.free == room.usable - room.weights - room.kv - room.reserve
    assert not answer.fits
    assert (answer.layout.tp, answer.layout.pp) == (2, 1)
    assert asked("Qwen3-32B", quantization="w8a8", context=answer.max_context, concurrency=8).fits
    assert not asked("Qwen3-32B", quantization="w8a8", context=answer.max_context + 128, concurrency=8).fits
    assert answer.max_concurrency == 1


# -- the cache: what tensor parallel divides and what it copies ------------------------------------------------


@pytest.mark.parametrize(
    ("name", "each"),
    [
        ("DeepSeek-R1-Distill-Qwen-1.5B", 28672),
        ("DeepSeek-R1-Distill-Llama-70B", 327680),
        ("deepseek-moe-16b-chat", 229376),
        ("DeepSeek-V2-Lite-Chat", 31104),
        ("DeepSeek-R1", 70272),
        ("DeepSeek-V3.2", 85888),
        ("DeepSeek-V2.5", 69120),
        ("Qwen3-235B-A22B", 192512),
    ],
)
def test_bytes_of_a_token(name: str, each: int) -> None:
    shape = model(name)
    assert kv_bytes_per_token(shape, shape.config.layers, 1) == each


def test_grouped_heads_are_divided_until_there_is_one_each() -> None:
    shape = model("Qwen3-30B-A3B")  # 4 KV heads
    whole = kv_bytes_per_token(shape, 48, 1)
    assert [whole / kv_bytes_per_token(shape, 48, tp) for tp in (1, 2, 4, 8, 16)] == [1, 2, 4, 4, 4]


def test_a_latent_entry_is_whole_on_every_rank_and_divided_by_stages_only() -> None:
    shape = model("DeepSeek-V2-Lite-Chat")
    assert {kv_bytes_per_token(shape, 27, tp) for tp in (1, 2, 4, 8, 16)} == {31104}
    assert kv_bytes_per_token(shape, 14, 1) == 31104 * 14 / 27


def test_an_eight_bit_cache_takes_half() -> None:
    shape = model("Qwen3-8B")
    assert kv_bytes_per_token(shape, 36, 1, 8) * 2 == kv_bytes_per_token(shape, 36, 1)


# -- layouts ---------------------------------------------------------------------------------------------------


def test_layers_that_do_not_divide_go_to_the_stages_before_the_last() -> None:
    assert [stage.layers for stage in stages(27, 4)] == [7, 7, 7, 6]
    assert [stage.layers for stage in stages(61, 4)] == [15, 15, 16, 15]
    assert [stage.layers for stage in stages(28, 2)] == [14, 14]


@pytest.mark.parametrize("shape", SHAPES, ids=NAMES)
@pytest.mark.parametrize("pp", [1, 2, 4])
def test_stages_hold_the_model_once(shape: Shape, pp: int) -> None:
    how = scheme("none")
    held = sum(weight_bytes(shape, how, Layout(pp=pp), stage) for stage in stages(shape.config.layers, pp))
    assert held == pytest.approx(all_bytes(shape, how), abs=8)


def test_the_documented_layout_of_r1_is_the_one_that_is_found() -> None:
    answer = asked("DeepSeek-R1", LARGE, 16, quantization="w8a8", context=16384, concurrency=16)
    assert answer.fits
    assert (answer.layout.tp, answer.layout.dp, answer.layout.pp, answer.layout.ep) == (4, 4, 1, True)


def test_data_parallel_ranks_share_the_users() -> None:
    one = asked("DeepSeek-R1", LARGE, 16, quantization="w8a8", context=16384, concurrency=16, tp=4, dp=4)
    assert one.room.kv == 4 * 16384 * 70272


def test_each_communicator_takes_twice_its_buffer() -> None:
    shape = model("Qwen3-30B-A3B")
    taken = {
        layout: reserve(shape, layout, 2048, 128).communication // (200 * MIB)
        for layout in (Layout(), Layout(tp=2), Layout(tp=2, pp=2), Layout(tp=2, dp=2, ep=True))
    }
    assert list(taken.values()) == [0, 2, 4, 8]


# -- the start -------------------------------------------------------------------------------------------------


def test_an_idle_small_card_is_not_recommended_into_a_refusal() -> None:
    """vLLM compares free memory with total x utilization: 32768 MiB x 0.92 is more than an idle 910B4 has free."""
    idle = card(SMALL.chip, 32768 * MIB, (32768 - 2871) * MIB)
    answer = fit(model("Qwen3-0.6B"), idle, Wish(1))
    assert answer.utilization <= 0.91
    assert answer.utilization * idle.total <= idle.free
    assert (answer.utilization + 0.01) * idle.total > idle.free
    told = fit(model("Qwen3-0.6B"), idle, Wish(1, utilization=0.92))
    assert not told.fits
    assert [one.field for one in told.breaches] == ["utilization"]
    assert "0.91" in str(told.reason)


def test_a_card_that_others_fill_is_refused_as_such() -> None:
    answer = fit(model("Qwen3-0.6B"), card(LARGE.chip, 65536 * MIB, 100 * MIB), Wish(1))
    assert not answer.fits
    assert "cannot start there" in str(answer.reason)


def test_the_default_of_the_release_is_kept_where_it_starts() -> None:
    assert fit(model("Qwen3-0.6B"), LARGE, Wish(1)).utilization == 0.92
    assert fit(model("Qwen3-0.6B"), LARGE, Wish(1, release="0.18.0")).utilization == 0.90


@settings(deadline=None, max_examples=60)
@given(free=st.integers(0, 64 * 1024), shape=st.sampled_from(SHAPES))
def test_whatever_others_hold_vllm_starts_with_what_is_recommended(free: int, shape: Shape) -> None:
    busy = card(LARGE.chip, 65536 * MIB, free * MIB)
    answer = fit(shape, busy, Wish(1))
    assert answer.utilization * busy.total <= busy.free
    assert answer.room.usable <= busy.free


# -- what must always hold -------------------------------------------------------------------------------------

WISHES = st.builds(
    Wish,
    cards=st.sampled_from([1, 2, 3, 4, 6, 8, 12, 16]),
    quantization=st.sampled_from([one.id for one in schemes()]),
    context=st.integers(1, 40000),
    concurrency=st.integers(1, 200),
)


@settings(deadline=None, max_examples=80)
@given(shape=st.sampled_from(SHAPES), wish=WISHES, more=st.integers(1, 8))
def test_more_cards_never_fit_less(shape: Shape, wish: Wish, more: int) -> None:
    if fit(shape, LARGE, wish).fits:
        assert fit(shape, LARGE, replace(wish, cards=wish.cards + more)).fits


@settings(deadline=None, max_examples=80)
@given(shape=st.sampled_from(SHAPES), wish=WISHES, more=st.integers(1, 4096), users=st.integers(1, 16))
def test_more_context_or_more_users_never_need_less(shape: Shape, wish: Wish, more: int, users: int) -> None:
    fixed = replace(wish, cards=1, tp=1)
    now = fit(shape, LARGE, fixed).room
    assert fit(shape, LARGE, replace(fixed, context=wish.context + more)).room.free <= now.free
    assert fit(shape, LARGE, replace(fixed, concurrency=wish.concurrency + users)).room.free <= now.free


@settings(deadline=None, max_examples=80)
@given(shape=st.sampled_from(SHAPES), wish=WISHES)
def test_the_largest_are_the_largest(shape: Shape, wish: Wish) -> None:
    answer = fit(shape, LARGE, wish)
    if answer.breaches:
        return
    at = replace(wish, tp=answer.layout.tp, pp=answer.layout.pp, dp=answer.layout.dp, ep=answer.layout.ep)
    if answer.max_context:
        assert fit(shape, LARGE, replace(at, context=answer.max_context)).fits
    if answer.max_context + 128 <= shape.config.context:
        assert not fit(shape, LARGE, replace(at, context=answer.max_context + 128)).fits
    if answer.max_concurrency:
        assert fit(shape, LARGE, replace(at, concurrency=answer.max_concurrency)).fits
    assert answer.fits == (answer.max_concurrency >= wish.concurrency) == (answer.room.free >= 0)


@settings(deadline=None, max_examples=60)
@given(shape=st.sampled_from(SHAPES), how=st.sampled_from(schemes()), tp=st.sampled_from([1, 2, 4, 8]))
def test_ranks_hold_less_and_together_no_less_than_the_model(shape: Shape, how: Scheme, tp: int) -> None:
    stage = stages(shape.config.layers, 1)[0]
    whole, part = weight_bytes(shape, how, Layout(), stage), weight_bytes(shape, how, Layout(tp=tp), stage)
    assert part <= whole <= tp * part + tp


@settings(deadline=None, max_examples=40)
@given(shape=st.sampled_from(SHAPES))
def test_fewer_bits_never_weigh_more(shape: Shape) -> None:
    weighed = [all_bytes(replace(shape, stated_gb={}), scheme(name)) for name in ("none", "w8a8", "w4a8", "w4a4")]
    assert weighed == sorted(weighed, reverse=True)


def test_an_old_release_and_a_new_one_differ_where_they_should() -> None:
    assert not asked("Qwen3-32B", quantization="w4a8", context=2048, release="0.7.3").fits
    assert asked("Qwen3-32B", quantization="w4a8", context=2048, release="0.9.1").fits
    expanded = asked("Qwen3-8B", quantization="fp8", context=2048, release="0.30.0rc2")
    assert expanded.fits
    assert expanded.room.weights == asked("Qwen3-8B", context=2048).room.weights


@pytest.mark.parametrize("recipe", recipes(), ids=lambda one: one.id)
def test_every_recipe_fits_an_idle_card(recipe: Recipe) -> None:
    answer = recipe_answer(recipe)
    assert answer.fits, answer.reason
    assert answer.layout.devices == recipe.cards
    assert answer.room.free > GIB // 2, "with a little to spare"


def test_there_are_recipes_for_both_sizes() -> None:
    assert {one.hbm_gib for one in recipes()} == {32, 64}
    assert all(one.cards == 2 for one in recipes())


def test_the_table_names_a_reason_for_every_refusal() -> None:
    rows = table(model("Qwen3-32B"), SMALL, Wish(2, concurrency=4))
    assert {row.cards for row in rows} == set(CARDS)
    assert {row.quantization for row in rows} >= {"none", "w8a8", "w4a8", "fp8"}
    assert all(str(row.answer.reason) for row in rows)
    assert any(row.answer.fits for row in rows)
    assert all(row.quantization != "w4a16" for row in rows), "only for experts"
    assert all(not row.answer.fits for row in rows if row.quantization == "fp8")


def test_a_card_of_two_devices_counts_twice() -> None:
    answer = asked("DeepSeek-R1", card_named("A3"), 8, quantization="w8a8", context=8192, concurrency=16)
    assert answer.fits
    assert answer.layout.devices == 16


@pytest.mark.parametrize("name", ["DeepSeek-V4-Pro", "DeepSeek-V4.1-Flash", "Qwen3.5-27B"])
def test_a_model_of_which_too_little_is_known_is_not_guessed(name: str) -> None:
    answer = asked(name, LARGE, 32, quantization="w8a8")
    assert not answer.fits
    assert "Too little is known" in str(answer.reason)
    assert (answer.max_context, answer.max_concurrency, answer.room.weights) == (0, 0, 0)

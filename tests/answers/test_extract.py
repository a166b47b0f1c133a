"""Answers read where texts lie, in pieces from their ends, are those of the plain way."""

import random

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audit.answers import extract as extracting
from audit.answers import normalize
from audit.answers.extract import (
    extract_answers,
    normal_answers,
)
from tests.reference.answers import slow_box

# Characters of one to four bytes, and boxes that nest, end early or are escaped twice.
PARTS = [
    *("x", "5", " ", "\n", "é", "∑", "𝔐", "\x00", "\\", "{", "}", r"\{", r"\}", r"\\"),
    *(r"\boxed{", r"\boxed{5}", r"\\boxed{7}", r"\boxed{\frac{1}{2}}", r"\boxed{a\}", r"\boxe"),
    *("word " * 5, "∑" * 9),
]
texts = st.lists(st.sampled_from(PARTS), max_size=40).map("".join)


def random_texts(seed, count, longest):
    rng = random.Random(seed)
    return ["".join(rng.choices(PARTS, k=rng.randint(0, longest))) for _ in range(count)]


@pytest.fixture(params=[(7, 8), (16, 11), (4096, 65_536)], ids=str)
def pieces(request, monkeypatch):
    """Pieces so small that boxes and characters lie on their borders; and the real ones."""
    tail, piece = request.param
    monkeypatch.setattr(extracting, "TAIL_BYTES", tail)
    monkeypatch.setattr(extracting, "PIECE_BYTES", piece)


@pytest.mark.parametrize("type", [pa.string(), pa.large_string()], ids=str)
def test_boxes_found_in_pieces_are_those_of_the_whole_text(pieces, type):
    written = random_texts(1, 3000, 60)
    array = pa.array(written, type)
    recorded = pa.array(["9"] * len(written))
    expected = [slow_box(text) for text in written]
    assert extract_answers(array, recorded).to_pylist() == expected
    assert {None, "", "5", "7", r"\frac{1}{2}"} <= set(expected)
    # A slice begins somewhere in the buffers.
    assert extract_answers(array[700:900], recorded[700:900]).to_pylist() == expected[700:900]


def test_a_box_may_begin_at_every_place_of_a_text(pieces):
    for before in range(40):
        for after in range(40):
            text = "∑" * before + r"\boxed{5}" + "x" * after
            found = extract_answers(pa.array([text], pa.large_string()), pa.nulls(1, pa.string()))
            assert found.to_pylist() == ["5"], (before, after)


def test_where_there_is_no_text_the_recorded_box_counts():
    array = pa.array([None, "", r"\boxed{5}", None], pa.large_string())
    boxes = pa.array(["1", "2", "3", None])
    assert extract_answers(array, boxes).to_pylist() == ["1", None, "5", None]
    assert extract_answers(array[3:], boxes[3:]).to_pylist() == [None]
    assert extract_answers(pa.nulls(2, pa.large_string()), boxes[:2]).to_pylist() == ["1", "2"]


def test_long_texts_are_searched_to_their_beginning():
    filler = "no end in sight " * 20_000
    array = pa.array([r"\boxed{1}" + filler, filler, filler + r"\boxed{" + filler], pa.string())
    assert extract_answers(array, pa.nulls(3, pa.string())).to_pylist() == ["1", None, None]


@settings(max_examples=150, deadline=None)
@given(st.lists(st.one_of(st.none(), texts, st.text("0123456789,{}$ ", max_size=6)), max_size=9))
def test_normal_forms_found_once_are_those_found_one_by_one(raw):
    forms = normal_answers(pa.array(raw * 2, pa.string()))
    assert forms.type == pa.string()
    assert forms.to_pylist() == [normalize(one) for one in raw * 2]

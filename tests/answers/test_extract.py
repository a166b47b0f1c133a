"""Answers read where texts lie are those of the plain way."""

import random

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from audit.answers import normalize
from audit.answers.extract import extract_answers, normal_answers
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


@pytest.mark.parametrize("type", [pa.string(), pa.large_string()], ids=str)
def test_boxes_found_in_bytes_are_those_of_the_text(type):
    written = random_texts(1, 3000, 60)
    array = pa.array(written, type)
    recorded = pa.array(["9"] * len(written))
    expected = [slow_box(text) for text in written]
    assert extract_answers(array, recorded).to_pylist() == expected
    assert {None, "", "5", "7", r"\frac{1}{2}"} <= set(expected)
    # A slice begins somewhere in the buffers.
    assert extract_answers(array[700:900], recorded[700:900]).to_pylist() == expected[700:900]


def test_where_there_is_no_text_the_recorded_box_counts():
    array = pa.array([None, "", r"\boxed{5}", None], pa.large_string())
    boxes = pa.array(["1", "2", "3", None])
    assert extract_answers(array, boxes).to_pylist() == ["1", None, "5", None]
    assert extract_answers(array[3:], boxes[3:]).to_pylist() == [None]
    assert extract_answers(pa.nulls(2, pa.large_string()), boxes[:2]).to_pylist() == ["1", "2"]


@settings(max_examples=150, deadline=None)
@given(st.lists(st.one_of(st.none(), texts, st.text("0123456789,{}$ ", max_size=6)), max_size=9))
def test_normal_forms_found_once_are_those_found_one_by_one(raw):
    forms = normal_answers(pa.array(raw * 2, pa.string()))
    assert forms.type == pa.string()
    assert forms.to_pylist() == [normalize(one) for one in raw * 2]

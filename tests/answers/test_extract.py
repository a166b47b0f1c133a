"""Answers read of many attempts at once are those read one by one."""

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from audit.answers import normalize
from audit.answers.extract import extract_boxes, normalize_answers


def test_where_there_is_no_text_the_recorded_box_counts():
    array = pa.array([None, "", r"\boxed{5}", None], pa.large_string())
    boxes = pa.array(["1", "2", "3", None])
    assert extract_boxes(array, boxes).to_pylist() == ["1", None, "5", None]
    assert extract_boxes(array[3:], boxes[3:]).to_pylist() == [None]
    assert extract_boxes(pa.nulls(2, pa.large_string()), boxes[:2]).to_pylist() == ["1", "2"]


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.one_of(st.none(), st.text(), st.text("0123456789,{}$ ", max_size=6)), max_size=9)
)
def test_normal_forms_found_once_are_those_found_one_by_one(raw):
    forms = normalize_answers(pa.array(raw * 2, pa.string()))
    assert forms.type == pa.string()
    assert forms.to_pylist() == [normalize(one) for one in raw * 2]

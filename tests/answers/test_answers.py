"""The box and the normal form: tables of cases, slow oracles and properties."""

import re
from itertools import product

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from audit.answers import boxed_answer, last_box, normalize
from tests.reference.answers import (
    closing_brace,
    is_spacing,
    slow_normalize,
    tex_tokens,
)

# --- the last box: text, raw body ----------------------------------------------------------------

BOXES = [
    # ordinary
    (r"so \boxed{5}", "5"),
    (r"\boxed{5}", "5"),
    (r"\boxed{ 5 }.", " 5 "),
    (r"\boxed{\frac{1}{2}} done", r"\frac{1}{2}"),
    (r"\boxed{1} then \boxed{2}", "2"),
    ("\\boxed{a\nb}", "a\nb"),
    (r"$\boxed{5}$", "5"),
    (r"{\boxed{5}", "5"),
    (r"}}}\boxed{5}}}}", "5"),
    # no box
    ("", None),
    ("the answer is 5", None),
    (r"\boxed", None),
    (r"\boxed 5", None),
    (r"\boxed {5}", None),
    ("\\boxed\n{5}", None),
    (r"\boxed5", None),
    (r"\boxed\{5\}", None),
    (r"\boxed[5]{6}", None),
    (r"\boxedx{5}", None),
    (r"\fboxed{5}", None),
    (r"\Boxed{5}", None),
    (r"boxed{5}", None),
    (r"\fbox{5}", None),
    # not a box after a box: the earlier one stays the last occurrence
    (r"\boxed{5} or \boxed 6", "5"),
    (r"\boxed{5} or \boxed {6}", "5"),
    (r"\boxed{5} or \\boxed{6}", "6"),
    (r"\boxed{5} or \boxedx{6", "5"),
    # an unfinished last box hides the complete one before it
    (r"\boxed{5} and \boxed{6", None),
    (r"\boxed{5} and \boxed{", None),
    (r"\boxed{", None),
    (r"\boxed{{}", None),
    (r"\boxed{5\}", None),
    ("\\boxed{5\\", None),
    # an empty one is still the last
    (r"\boxed{}", ""),
    (r"\boxed{5} \boxed{}", ""),
    # nested: the last occurrence is the inner one
    (r"\boxed{a \boxed{b}}", "b"),
    (r"\boxed{a \boxed{b}", "b"),
    (r"\boxed{a \boxed{b} c}", "b"),
    (r"\boxed{\boxed{\boxed{7}}}", "7"),
    (r"\boxed{a} \boxed{\boxed{b", None),
    # escaped braces are text
    (r"\boxed{\{1,2\}}", r"\{1,2\}"),
    (r"\boxed{\{}", r"\{"),
    (r"\boxed{\}}", r"\}"),
    (r"\boxed{a\}b}c}", r"a\}b"),
    # a double backslash escapes nothing
    (r"\boxed{a\\}", r"a\\"),
    (r"\boxed{a\\{b}c}", r"a\\{b}c"),
    (r"\boxed{a\\\{b}c}", r"a\\\{b"),
    (r"\boxed{a\\\}b}", r"a\\\}b"),
    # the search is plain text: a doubly escaped log has its boxes too
    (r"\\boxed{5}", "5"),
    (r"\\\boxed{5}", "5"),
    (r"\\\\boxed{5}", "5"),
    (r"\\\\\boxed{5}", "5"),
    (r"\boxed{1} \\boxed{2} \\boxed{3", None),
    (r"\\boxed{\\frac{1}{2}}", r"\\frac{1}{2}"),
    (r"\\boxed{\\{1\\}}", r"\\{1\\}"),
    (r"\{\boxed{5}\}", "5"),
    (r"\alpha\boxed{5}", "5"),
    (r"\boxed{a \\boxed{b} c}", "b"),
    (r"\boxed{a \\boxed{b}", "b"),
    # command words have ASCII letters
    ("\\boxed\u00e9{5}", None),
    ("\u00e9\\boxed{5}", "5"),
    # other bodies
    ("\\boxed{\ud800}", "\ud800"),
    ("\\boxed{\x00}", "\x00"),
    (r"% \boxed{5}", "5"),
]


@pytest.mark.parametrize(("text", "body"), BOXES)
def test_last_box_is_the_body_of_the_last_occurrence(text, body):
    assert last_box(text) == body


# --- the normal form: raw answer, normalized answer ----------------------------------------------

WHITE_SPACE = [
    *range(0x09, 0x0E), 0x20, 0x85, 0xA0, 0x1680, *range(0x2000, 0x200B),
    0x2028, 0x2029, 0x202F, 0x205F, 0x3000,
]  # fmt: skip

NORMAL_FORMS = [
    # nothing
    (None, None),
    ("", None),
    (" ", None),
    ("\u00a0\u202f\n", None),
    (r"\,", None),
    (r"\ ", None),
    (r"\quad\qquad", None),
    (r"\left\right", None),
    (r"\text{}", None),
    (r"\text{ \, }", None),
    (r"\text{\mathrm{\mbox{}}}", None),
    ("{}", None),
    ("{{{}}}", None),
    ("$$", None),
    ("$ $", None),
    ("$$$$", None),
    (r"\(\)", None),
    (r"\[ \]", None),
    (r"\displaystyle", None),
    (r"$\displaystyle{}$", None),
    (r"\boxed{}", None),
    # 1. white space
    ("x + y", "x+y"),
    ("\tx\r\n", "x"),
    ("1 234", "1234"),
    ("- 5", "-5"),
    ("a\u00a0b\u202fc", "abc"),
    ("\u2003x\u3000", "x"),
    ("x\x85y\u2028z\u2029", "xyz"),
    ("x\u1680y\u205fz", "xyz"),
    ("a\u200bb", "a\u200bb"),
    ("\ufeffa", "\ufeffa"),
    ("a\u2060b\u180ec", "a\u2060b\u180ec"),
    ("a\x1cb\x1dc\x1ed\x1fe", "a\x1cb\x1dc\x1ed\x1fe"),
    (r"\alpha b", r"\alphab"),
    (r"\frac 1 2", r"\frac12"),
    # 1. LaTeX spacing
    (r"a\,b\;c\:d\!e\ f~g\quad h\qquad i", "abcdefghi"),
    (r"5\text{ cm}", r"5\text{cm}"),
    (r"\quad5", "5"),
    (r"\quad x", "x"),
    ("a\\\nb", "ab"),
    ("a\\\u00a0b", "ab"),
    (r"a\\ b", r"a\\b"),
    (r"a\\\,b", r"a\\b"),
    (r"a\\~b", r"a\\b"),
    (r"a\enspace b", r"a\enspaceb"),
    # 1. math delimiters around the whole
    ("$5$", "5"),
    ("$ 5 $", "5"),
    (" $5$ ", "5"),
    ("$$5$$", "5"),
    ("$ $5$ $", "5"),
    (r"\(5\)", "5"),
    (r"\[5\]", "5"),
    (r"$\left(5\right)$", "(5)"),
    (r"$\$5$", r"\$5"),
    (r"$5\\$", r"5\\"),
    # 2. \left and \right
    (r"\left(1,2\right)", "(1,2)"),
    (r"\left ( 1 \right )", "(1)"),
    (r"\left\{1\right\}", r"\{1\}"),
    (r"\left. x \right|", ".x|"),
    (r"\left x", "x"),
    (r"\left2", "2"),
    ("\\left\u00e9", "\u00e9"),
    (r"x\Rightarrow y", r"x\Rightarrowy"),
    (r"\\\left(", r"\\("),
    # 3. fractions
    (r"\dfrac{1}{2}", r"\frac{1}{2}"),
    (r"\tfrac12", r"\frac12"),
    (r"\dfrac\tfrac123", r"\frac\frac123"),
    (r"\dfrac a b", r"\fracab"),
    (r"\frac a b", r"\fracab"),
    (r"-\dfrac{\dfrac12}{3}", r"-\frac{\frac12}{3}"),
    # 4. wrappers around the whole
    (r"\text{abc}", "abc"),
    (r"\textbf{5}", "5"),
    (r"\textit{5}", "5"),
    (r"\textrm{5}", "5"),
    (r"\mathrm{5}", "5"),
    (r"\mathbf{5}", "5"),
    (r"\mathit{5}", "5"),
    (r"\mathsf{5}", "5"),
    (r"\mbox{5}", "5"),
    (r"\boxed{5}", "5"),
    (r"\text {5}", "5"),
    (r"\text\,{5}", "5"),
    (r"\text\left{5}", "5"),
    (r"\text{\mathrm{\textbf{x}}}", "x"),
    ("{5}", "5"),
    ("{{{5}}}", "5"),
    (r"{\text{{5}}}", "5"),
    (r"$\text{5}$", "5"),
    (r"\text{$5$}", "5"),
    (r"{$\mathrm{{5}}$}", "5"),
    (r"\boxed{\(\boxed{5}\)}", "5"),
    (r"\text{(A)}", "(A)"),
    ("{{a}{b}}", "{a}{b}"),
    (r"\text{\}}", r"\}"),
    (r"\text{a\\}", r"a\\"),
    (r"{\{5\}}", r"\{5\}"),
    (r"\displaystyle 5", "5"),
    (r"\displaystyle x", "x"),
    (r"\textstyle\frac12", r"\frac12"),
    (r"\displaystyle\textstyle 5", "5"),
    (r"\displaystyle{5}", "5"),
    (r"{\displaystyle x}", "x"),
    (r"$\displaystyle x$", "x"),
    (r"\scriptstyle 5", r"\scriptstyle5"),
    # a command that appears only when something goes
    (r"\te xt{5}", "5"),
    (r"\te\,xt{5}", "5"),
    (r"\le ft(5\ri ght)", "(5)"),
    (r"\le\left ft(5)", "(5)"),
    (r"\d frac12", r"\frac12"),
    # 5. integers
    ("007", "7"),
    ("000", "0"),
    ("-0", "0"),
    ("+0", "0"),
    ("-000", "0"),
    ("+5", "5"),
    ("-05", "-5"),
    ("+ 5", "5"),
    ("1\n2", "12"),
    (r"\text{007}", "7"),
    (r"$-\,007$", "-7"),
    ("\u22125", "\u22125"),
    ("\uff0b5", "\uff0b5"),
    ("\u0660\u0661", "\u0660\u0661"),
    ("\uff10\uff11", "\uff10\uff11"),
    ("\u00b2", "\u00b2"),
    # 5. groups of three
    ("1,234", "1234"),
    ("12,345", "12345"),
    ("123,456,789", "123456789"),
    ("-1,234", "-1234"),
    ("+1,234", "1234"),
    ("0,123", "123"),
    ("000,000", "0"),
    ("-0,000", "0"),
    ("12{,}345", "12345"),
    ("1{,}234,567", "1234567"),
    ("1,234{,}567", "1234567"),
    (r"$1{,}234$", "1234"),
    (r"\text{1,234}", "1234"),
    ("1,2 34", "1234"),
    ("1,234 567", "1,234567"),
    ("1\uff0c234", "1\uff0c234"),
    ("\u0661,234", "\u0661,234"),
    # 5. a comma with white space or spacing beside it makes a list
    ("1, 234", "1,234"),
    ("1 ,234", "1,234"),
    ("1 , 234", "1,234"),
    ("1,  234", "1,234"),
    ("1,\t234", "1,234"),
    ("1,\n234", "1,234"),
    ("1,\u00a0234", "1,234"),
    ("1\u202f,234", "1,234"),
    ("1,\\\n234", "1,234"),
    (r"1,\,234", "1,234"),
    (r"1\,,234", "1,234"),
    (r"1,\;234", "1,234"),
    (r"1,\:234", "1,234"),
    (r"1,\ 234", "1,234"),
    ("1,~234", "1,234"),
    (r"1,\quad234", "1,234"),
    (r"1\qquad,234", "1,234"),
    ("1,234, 567", "1,234,567"),
    ("1, 234,567", "1,234,567"),
    ("-1, 234", "-1,234"),
    ("+1, 234", "+1,234"),
    ("001, 234", "001,234"),
    ("2, 3", "2,3"),
    (r"\text{1, 234}", "1,234"),
    ("$1, 234$", "1,234"),
    (r"{\boxed{$1 ,234$}}", "1,234"),
    (r"\te xt{1, 234}", "1,234"),
    ("1{ , }234", "1{,}234"),
    ("1{, }234", "1{,}234"),
    (r"1{\,,}234", "1{,}234"),
    # 5. and these do not
    (r"1,\!234", "1234"),
    (r"1\!,\!234", "1234"),
    (r"1{,\!}234", "1234"),
    (r"1{,}\!234", "1234"),
    ("1 {,} 234", "1234"),
    (r"1{,}\,234", "1234"),
    (" 1,234 ", "1234"),
    (r"\text{ 1,234 }", "1234"),
    ("- 1,234", "-1234"),
    ("1,23 4", "1234"),
    (r"1,\! 234", "1234"),
    (r"1,\left 234", "1234"),
    ("1,\u200b234", "1,\u200b234"),
    (r"1,\qu ad 234", "1234"),
    # nothing else is merged
    # strange text
    (r"\\\\ 5", r"\\\\5"),
    ("\ud800", "\ud800"),
    ("\\\udfff 5", "\\\udfff5"),
    ("\x00", "\x00"),
    ("\\\x00 1", "\\\x001"),
    ("\U0001d7d9", "\U0001d7d9"),
    ("caf\u00e9", "caf\u00e9"),
    ("cafe\u0301", "cafe\u0301"),
]

# Forms that stay as they are.
UNCHANGED = r"""
    \quadrant \qquadx \Quad a\\,b \~n a\>b \thinspace5 a;b:c! $a$+$b$ $$a$$+$$b$$ \(a\)+\(b\)
    \[a\]\[b\] \(a\)+$b$ $5 5$ $ $$$ $$5$ $5$$ $$$5$$$ $a$$b$ $5$. x=$5$ \[$5$\] $\(5\)$ \(5\]
    \)5\( \$5 \$5\$ $5\$ \\(5\\) \\[5\\] (5) [5] \leftarrow \rightarrow \leftx \\left( \middle|
    \bigl(1\bigr) left( \cfrac12 \dfracx \\dfrac12 \text{a}+\text{b} \text{a}\text{b}
    \text{}\text{} {a}{b} {}{} \text{5}. 5\text{cm} \text{5}^2 \text5 \text \text{ \text{5
    \text{5\} \text\{5\} \\text{5} \{5\} }5{ {5}} {{5} {a}b{c} \textsf{5} \mathbb{R}
    \operatorname{x} \fbox{5} \sqrt{5} 5\displaystyle \displaystylex 7 0 -5 --5 +-5 - 5- -{5}
    {-}5 5. 5.0 007.5 05/07 0x10 1_000 1,23 1,2345 1234,567 1234{,}567 ,123 1, 1,,234 1,234,
    1,234,56 1,234.5 1.234 1;234 1{,,}234 1{,234} {1},{234} 1\{,\}234 (1,234) 2^{1,234} 1/2
    \frac12 0.5 \frac{1}{2} 2^{99} 2^99 5% 5\% 90^\circ x=5 A a 1\cdot2 \ \\ {5}\
"""


@pytest.mark.parametrize(
    ("raw", "expected"), [*NORMAL_FORMS, *((form, form) for form in UNCHANGED.split())]
)
def test_normal_form_of_an_answer(raw, expected):
    assert normalize(raw) == expected


@pytest.mark.parametrize("point", WHITE_SPACE)
def test_every_unicode_white_space_goes_and_makes_a_list_of_a_comma(point):
    space = chr(point)
    assert normalize(f"{space}a{space}b{space}") == "ab"
    assert normalize(f"a\\{space}b") == "ab"
    assert normalize(f"1,{space}234") == normalize(f"1{space},234") == "1,234"


def test_no_other_character_is_white_space():
    for point in set(range(0x110000)) - set(WHITE_SPACE) - {ord("~")}:
        if chr(point).isspace() or 0x2000 <= point < 0x2100 or point < 0x300 or point == 0xFEFF:
            assert normalize(f"a{chr(point)}b") is not None
            assert len(normalize(f"a{chr(point)}b")) == 3, hex(point)


# --- boxed_answer --------------------------------------------------------------------------------


def test_the_answer_is_the_normal_form_of_the_last_box():
    assert boxed_answer(None) is None
    for text, body in BOXES:
        assert boxed_answer(text) == normalize(body)
    # An earlier box, or one around it, is no answer where the last one has nothing in it.
    for text in (r"\boxed{5} \boxed{\text{}}", r"\boxed{5 \boxed{}}", r"\boxed{ } \boxed{\,}"):
        assert boxed_answer(text) is None


# --- the slow reference: token by token, one pass at a time --------------------------------------


def slow_boxes(text):
    """Return the body of every box in order, None for an unfinished one."""
    bodies = []
    for place in range(len(text)):
        if text[place : place + 7] == r"\boxed{":
            tokens = tex_tokens(text[place + 6 :])
            end = closing_brace(tokens, 0)
            bodies.append(None if end is None else "".join(tokens[1:end]))
    return bodies


PIECES = [
    "\\", "{", "}", "boxed", r"\boxed{", r"\boxed", r"\{", r"\}", " ", "b", "5", r"\text{", "$",
    r"\,",
]  # fmt: skip
FORMS = [
    "\\", "{", "}", "$", "$$", r"\(", r"\)", r"\[", r"\]", r"\$", r"\{", r"\}",
    " ", "\u00a0", "~", r"\,", r"\!", r"\quad", r"\ ",
    ",", "{,}", "1", "23", "234", "007", "+", "-", "x", "ext", "ft", r"\te", r"\le", r"\left",
    r"\right", r"\dfrac", r"\text{", r"\mathrm", r"\boxed{", r"\displaystyle",
    "\u200b", "\x1c", "\ud800", "\u0661",
]  # fmt: skip
AROUND = [
    ("{", "}"), (r"\text{", "}"), (r"\mathrm {", " }"), (r"\te xt{", "}"), ("$", "$"), ("$$", "$$"),
    (r"\(", r"\)"), (r"\left", ""), (r"\displaystyle ", ""), (" ", r"\,"),
]  # fmt: skip
box_texts = st.lists(st.sampled_from(PIECES), max_size=24).map("".join)
forms = st.lists(st.sampled_from(FORMS), max_size=14).map("".join)
# Long rewriting chains are rare in a flat list, so wrap some answers on purpose.
wrapped = st.builds(
    lambda pairs, inner: "".join(
        [*(start for start, _ in pairs), inner, *(end for _, end in reversed(pairs))]
    ),
    st.lists(st.sampled_from(AROUND), max_size=5),
    forms,
)
anything = st.one_of(wrapped, box_texts, st.text(st.characters(exclude_categories=[])))


@settings(max_examples=200, deadline=None)
@given(box_texts)
def test_boxes_agree_with_reading_every_token(text):
    bodies = slow_boxes(text)
    assert last_box(text) == (bodies[-1] if bodies else None)


def test_boxes_of_every_short_text_agree_with_reading_every_token():
    for size in range(5):
        for pieces in product(["\\", r"\boxed{", "boxed", "{", "}", "5"], repeat=size):
            text = "".join(pieces)
            bodies = slow_boxes(text)
            assert last_box(text) == (bodies[-1] if bodies else None), text


@settings(max_examples=200, deadline=None)
@given(wrapped)
@example(r"\le\left ft\text{5}")
@example(r"$\te\left xt{1, 234}$")
def test_normal_form_agrees_with_rewriting_once_at_a_time(raw):
    assert normalize(raw) == slow_normalize(raw)


@pytest.mark.parametrize(
    "pieces",
    [
        ["$", r"\(", r"\)", "{", "}", r"\text", "a"],
        ["1", "234", ",", "{,}", " ", r"\!", r"\,", "-"],
        ["\\", r"\te", r"\left", "xt", "{", "}", " "],
    ],
)
def test_normal_form_of_every_short_answer_agrees_with_rewriting_once_at_a_time(pieces):
    for size in range(6 if len(pieces) < 8 else 5):
        for chosen in product(pieces, repeat=size):
            raw = "".join(chosen)
            assert normalize(raw) == slow_normalize(raw), raw


# --- properties ----------------------------------------------------------------------------------

GROUPED = re.compile(r"[+-]?[0-9]{1,3}((,|\{,\})[0-9]{3})+")


@settings(max_examples=200, deadline=None)
@given(anything)
def test_normalizing_twice_is_normalizing_once_unless_the_answer_is_a_spaced_list(raw):
    once = normalize(raw)
    if once is not None and GROUPED.fullmatch(once):
        assert "," in raw and any(is_spacing(token) for token in tex_tokens(raw))
        assert normalize(once) == str(int(re.sub("[{},]", "", once)))
    else:
        assert normalize(once) == once


@settings(deadline=None)
@given(anything)
def test_white_space_around_an_answer_changes_nothing(raw):
    if not raw.endswith("\\"):  # else the white space belongs to the last token
        assert normalize(f" {raw}\n") == normalize(raw)


@settings(deadline=None)
@given(anything)
def test_a_box_gives_the_normal_form_of_its_body(raw):
    text = f"so \\boxed{{{raw}}} it is"
    bodies = slow_boxes(text)
    if bodies == [raw]:
        assert boxed_answer(text) == normalize(raw)


@settings(deadline=None)
@given(st.integers(), st.sampled_from(["{}", "${}$", r"\text{{{}}}", r"\[ {} \]", "{{{}}}"]))
def test_every_way_to_write_an_integer_gives_its_decimal_digits(number, wrapper):
    grouped = f"{number:,}"
    for separator in [",", "{,}", r",\!", ""]:
        written = grouped.replace(",", separator)
        assert normalize(wrapper.format(written)) == str(number)


def test_an_integer_may_be_longer_than_python_converts():
    assert normalize("-000" + "9" * 10_000) == "-" + "9" * 10_000

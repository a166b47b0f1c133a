"""Small archives for hypothesis: few attempts, cheap ones, so that every budget can be tried."""

from hypothesis import strategies as st

from tests.support.archives import attempt


@st.composite
def small_banks(draw):
    """One or two archives of one or two problems with up to five attempts of one to six tokens."""
    attempts = st.tuples(
        st.integers(1, 6),
        st.sampled_from(("4", "5", "6", None)),
        st.sampled_from(("4", "5", None)),
        st.booleans(),
        st.sampled_from(("stop", "stop", "stop", "length")),
        st.sampled_from((None, -0.5, -0.25)),
    )
    places = [
        (archive, question)
        for archive in ("a", "b")[: draw(st.integers(1, 2))]
        for question in range(draw(st.integers(1, 2)))
    ]
    return [
        attempt(
            seed,
            cost,
            answer,
            correct=correct,
            finish=finish,
            archive=archive,
            question=question,
            archive_answer=extracted,
            mean_logprob=logprob,
        )
        for archive, question in places
        for seed, (cost, answer, extracted, correct, finish, logprob) in enumerate(
            draw(st.lists(attempts, min_size=1, max_size=5))
        )
    ]

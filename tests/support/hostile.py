"""Archives whose names and answers try to run, to break markup and to mislead."""

SCRIPT = "<script>alert(1)</script>"
BRACES = "{{7*7}} {% x %} \"q\" & 'a' | *b* _u_ #1 50% $x^2$ ~ \\ 数 Č"
IMAGE = "<img/src=x/onerror=alert(2)>"
# Turns the direction of all that follows; a page writes it as its escape.
MARKS = "\u202eevil\u2066"


def hostile_rows():
    """Two archives, two problems each: short and long attempts, good, bad and odd answers."""
    rows = []
    for archive, longer in ((SCRIPT, 0), (BRACES, 9)):
        for question in (0, 1):
            for seed in range(8):
                answer = ("7", "8", IMAGE, r"\{_%#&$\}")[(seed + question) % 4]
                rows.append(
                    {
                        "archive": archive,
                        "competition": "Cup <b>&amp;</b>",
                        "question_id": question,
                        "seed": seed,
                        "prompt_tokens": 3,
                        "completion_tokens": 5 + (seed * 7) % 11 + longer,
                        "finish_reason": "length" if seed == 5 else "stop",
                        "text": rf"so \boxed{{{answer}}}",
                        "boxed_answer": None,
                        "archive_answer": answer,
                        "correct": answer == ("7", IMAGE)[question],
                        "mean_logprob": None,
                        "references": None,
                    }
                )
    return rows

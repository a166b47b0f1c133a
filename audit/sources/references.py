"""A file of references: a problem's name and its accepted answers, a row or line each."""

from audit.sources.formats import Format, as_references, taken

REFERENCES = Format(
    name="references",
    title="references by problem",
    fields=(
        taken("competition", "competition"),
        taken("question_id", "question_id", "problem_id", "custom_id", "data_id", "doc_id", "id"),
        taken(
            "references",
            "references",
            "reference",
            "reference_answer",
            "ground_truth",
            "gold_answer",
            "expected_answer",
            "target",
            "answer",
            read=as_references,
        ),
    ),
)

"""One attempt per row or line, in columns of any known name: the canonical schema is such a file.

A canonical name goes before its aliases. Names that mean one thing here and another there, such as
`id`, `answer` or `score`, are no aliases: --map says what they are.
"""

from audit.sources.formats import Format, as_references, as_text, taken

FORMAT = Format(
    name="flat",
    title="one attempt per row",
    fields=(
        taken("archive", "archive", "model", "model_name", "model_id"),
        taken("competition", "competition", "benchmark", "dataset", "task", "task_name"),
        taken("question_id", "question_id", "problem_id", "problem_idx", "doc_id", "qid"),
        taken(
            "seed", "seed", "sample_id", "sample_index", "attempt", "attempt_id", "epoch", "trial"
        ),
        taken(
            "prompt_tokens",
            "prompt_tokens",
            "input_tokens",
            "num_prompt_tokens",
            "num_input_tokens",
            "usage.prompt_tokens",
            "usage.input_tokens",
        ),
        taken(
            "completion_tokens",
            "completion_tokens",
            "output_tokens",
            "num_completion_tokens",
            "num_output_tokens",
            "num_generated_tokens",
            "usage.completion_tokens",
            "usage.output_tokens",
        ),
        taken("finish_reason", "finish_reason", "stop_reason"),
        taken("text", "text", "response", "completion", "generation", "generated_text"),
        taken("boxed_answer", "boxed_answer"),
        taken(
            "archive_answer",
            "archive_answer",
            "extracted_answer",
            "predicted_answer",
            "prediction",
            read=as_text,
        ),
        taken("correct", "correct", "is_correct"),
        taken("mean_logprob", "mean_logprob", "avg_logprob", "completion_avg_logprob"),
        taken(
            "references",
            "references",
            "reference",
            "reference_answer",
            "ground_truth",
            "gold_answer",
            "expected_answer",
            read=as_references,
        ),
        taken("reasoning", "reasoning", "reasoning_content"),
    ),
)

"""Polars: lazy expressions over long frames, on all cores."""

from typing import NamedTuple

import numpy as np
import polars as pl
import pyarrow as pa

from tests.bench.yardsticks.protocol import (
    SELECTORS,
    Settings,
    Sums,
    Tables,
    add_rows,
    draw_counts,
    draw_order,
)

LEVELS = (0.025, 0.975)


class Form(NamedTuple):
    """Attempts with the number of their bank and their slot in it, and the banks."""

    attempts: pl.DataFrame
    banks: pl.DataFrame


def prepare(attempts: pa.Table) -> Form:
    """The attempts as a frame; answers are numbers, the same one for the same answer."""
    names = ("archive", "competition", "question_id")
    frame = pl.DataFrame(pl.from_arrow(attempts)).with_columns(
        pl.col("answer", "archive_answer").rank("dense").cast(pl.Int32),
        bank=pl.struct(names).rank("dense").cast(pl.Int32) - 1,
    )
    banks = frame.group_by("bank", *names).agg(size=pl.len().cast(pl.Int32)).sort("bank")
    slot = pl.int_range(pl.len(), dtype=pl.Int32).over("bank")
    return Form(frame.with_columns(slot=slot).drop(names), banks)


def draw_orders(form: Form, settings: Settings) -> pl.LazyFrame:
    """One row per order (numbered bank by bank) and position up to the largest cap."""
    competitions = sorted(form.banks["competition"].unique())
    longest = max(settings.caps)
    keys = ["competition", "question_id", "size"]
    asked = form.banks.select(keys).unique()
    drawn = asked.with_columns(
        slots=pl.Series(
            [
                np.concatenate(
                    [
                        draw_order(settings, competitions.index(name), question, repeat, size)[
                            :longest
                        ]
                        for repeat in range(1, settings.orders + 1)
                    ]
                ).astype(np.int32)
                for name, question, size in asked.iter_rows()
            ]
        )
    )
    place = pl.int_range(pl.len(), dtype=pl.Int32).over("bank")
    length = pl.min_horizontal("size", pl.lit(longest, pl.Int32))
    return (
        form.banks.lazy()
        .join(drawn.lazy(), on=keys)
        .select("bank", "size", slot="slots")
        .explode("slot")
        .with_columns(
            order=pl.col("bank") * settings.orders + place // length,
            position=place % length + 1,
        )
    )


def majority_correct(field: str) -> pl.Expr:
    """Whether each prefix's majority is correct: the largest of keys that grow with the votes.

    A key ends in the position at which its answer was first seen, and in that attempt's label.
    """
    first = (2 * pl.col("position") - pl.col("correct").cast(pl.Int32)).first()
    votes = pl.col("position").cum_count()
    key = votes.over("order", field).cast(pl.Int64) * 2**32 - first.over("order", field)
    leading = pl.when(pl.col(field).is_not_null()).then(key).cum_max().forward_fill()
    return leading.over("order").fill_null(0) % 2 == 1


def likeliest_correct() -> pl.Expr:
    """Whether the attempt of each prefix's largest log-probability, the earliest, is correct."""
    before = pl.col("logprob").cum_max().forward_fill().shift()
    is_best = pl.col("logprob").is_not_null() & (pl.col("logprob") > before).fill_null(True)
    label = pl.when(is_best).then(pl.col("correct")).forward_fill()
    return label.over("order").fill_null(False)


def prefixes(form: Form, settings: Settings) -> pl.LazyFrame:
    """What every prefix of every order has spent, selected and covered."""
    is_hit = pl.col("correct") & pl.col("answer").is_not_null()
    return (
        draw_orders(form, settings)
        .join(form.attempts.lazy(), on=("bank", "slot"), maintain_order="left")
        .select(
            "bank",
            "size",
            "order",
            "position",
            "cost",
            spent=pl.col("cost").cum_sum().over("order"),
            majority=majority_correct("answer"),
            archive_majority=majority_correct("archive_answer"),
            max_logprob=likeliest_correct(),
            covered=is_hit.cum_max().over("order"),
        )
    )


def replay(form: Form, settings: Settings) -> pl.DataFrame:
    """Sums by bank, cap, budget and rule."""
    states = prefixes(form, settings).collect().lazy()
    orders = states.group_by("bank", "size", "order")
    launches, returns = (pl.col("spent") - pl.col("cost"), pl.col("spent"))
    lengths = pl.concat(
        orders.agg(reached=reached.sum().cast(pl.Int32)).with_columns(
            budget=pl.lit(budget), rule=pl.lit(rule)
        )
        for budget in settings.budgets
        for rule, reached in (("strict", returns <= budget), ("advisory", launches < budget))
    )
    caps = pl.LazyFrame({"cap": settings.caps}, {"cap": pl.Int32})
    is_cut = (pl.col("rule") == "strict") & (pl.col("position") < pl.min_horizontal("cap", "size"))
    cost = pl.when(is_cut).then("budget").otherwise("spent")
    return (
        lengths.join(caps, how="cross")
        .with_columns(position=pl.min_horizontal("reached", "cap"))
        .join(states.drop("bank", "size"), on=("order", "position"), how="left")
        .group_by("bank", "cap", "budget", "rule")
        .agg(*(pl.col(name).sum() for name in (*SELECTORS, "covered")), cost=cost.sum())
        .collect()
    )


def tabulate(form: Form, totals: pl.DataFrame, settings: Settings) -> Tables:
    """The rows of the tables, their intervals summed over a long frame of counts."""
    scores = (
        totals.lazy()
        .filter(pl.col("cap") == settings.primary_cap)
        .join(form.banks.lazy(), on="bank")
        .collect()
    )
    sums = (
        scores.group_by("archive", "budget", "rule")
        .agg(*(pl.col(name).sum() for name in Sums._fields), replays=pl.len() * settings.orders)
        .rows_by_key(("archive", "budget", "rule"), unique=True)
    )
    ends = intervals(form, scores, settings)
    tables = Tables([], [])
    for archive in sorted(form.banks["archive"].unique()):
        for budget in settings.budgets:
            key = (archive, budget)
            *strict, replays = sums[*key, "strict"]
            *advisory, _ = sums[*key, "advisory"]
            between = [ends.get((*key, selector), (None, None)) for selector in SELECTORS]
            add_rows(tables, key, replays, Sums(*strict), Sums(*advisory), between)
    return tables


def intervals(form: Form, scores: pl.DataFrame, settings: Settings) -> dict[tuple, tuple]:
    """The ends of the 95 % interval of each accuracy change, by archive, budget and selector."""
    names = ("competition", "question_id")
    problems = form.banks.select(names).unique().sort(names)
    counts = draw_counts(problems.rows(), settings)
    replicates, columns = np.nonzero(counts)
    weights = pl.LazyFrame(
        {"replicate": replicates, "problem": columns, "weight": counts[replicates, columns]}
    )
    gains = (
        scores.sort("rule")
        .group_by("archive", *names, "budget")
        .agg(*(pl.col(name).first() - pl.col(name).last().cast(pl.Int64) for name in SELECTORS))
        .pivot("budget", index=("archive", *names), values=SELECTORS)
        .join(problems.with_row_index("problem").cast({"problem": pl.Int64}), on=names)
    )
    changes = [f"{name}_{budget}" for budget in settings.budgets for name in SELECTORS]
    drawn = pl.col("weight").sum() * settings.orders
    ends = (
        weights.join(gains.lazy(), on="problem")
        .group_by("archive", "replicate")
        .agg((pl.col(name) * pl.col("weight")).sum() * 100 / drawn for name in changes)
        .group_by("archive")
        .agg(
            pl.concat_list(
                pl.col(name).quantile(level, "linear") for level in (0.025, 0.975)
            ).alias(name)
            for name in changes
        )
        .collect()
    )
    return {
        (row["archive"], budget, name): row[f"{name}_{budget}"]
        for row in ends.iter_rows(named=True)
        for budget in settings.budgets
        for name in SELECTORS
    }

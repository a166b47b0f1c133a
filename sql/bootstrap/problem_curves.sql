-- problem_curves: by how much the totals of both rules change at one problem, at the first budget
--     of the archive's curve that a change reaches; every problem has a row at the first budget.
--     What needs labels is null without them.
-- grain: archive, budget, problem_id
-- kept: on demand by walks
with changes as (
    select bank_id, rule, budget, correct_change, 0 as covered_change, 0 as cost_change, 0 as slope_change
    from primary_changes
    where rule in ('strict', 'advisory')
    union all
    select bank_id, rule, budget, 0 as correct_change, covered_change, cost_change, slope_change
    from cost_events
    where (event <> 'launched' or cost_change > 0) and rule in ('strict', 'advisory')
),
-- Changes find the first budget of the curve that they reach by hashing: sorted for an asof join, millions of them take
-- long, and much memory. Every sixteenth of a doubling is a bucket.
reaches as (
    select
        archive_id,
        budget,
        previous_budget,
        unnest(range(floor(16 * log2(previous_budget + 2))::integer, floor(16 * log2(budget + 1))::integer + 1)) as bucket,
    from (
        select *, coalesce(lag(budget) over (partition by archive_id order by budget), -1) as previous_budget,
        from curve_budgets
    )
),
totals as (
    select
        banks.archive_id,
        banks.problem_id,
        reaches.budget,
        coalesce(sum(changes.correct_change) filter (changes.rule = 'strict'), 0) as strict_correct,
        coalesce(sum(changes.correct_change) filter (changes.rule = 'advisory'), 0) as advisory_correct,
        coalesce(sum(changes.covered_change) filter (changes.rule = 'strict'), 0) as strict_covered,
        coalesce(sum(changes.covered_change) filter (changes.rule = 'advisory'), 0) as advisory_covered,
        -- A strict cost is a straight line between changes: its slope times the budget, less an offset.
        sum(changes.slope_change) as strict_slope,
        sum(changes.slope_change * changes.budget) as strict_offset,
        coalesce(sum(changes.cost_change) filter (changes.rule = 'advisory'), 0) as advisory_cost,
    from changes
    inner join banks on changes.bank_id = banks.bank_id
    inner join reaches
        on banks.archive_id = reaches.archive_id
        and floor(16 * log2(changes.budget + 1))::integer = reaches.bucket
        and changes.budget > reaches.previous_budget
        and changes.budget <= reaches.budget
    group by banks.archive_id, banks.problem_id, reaches.budget
)
select
    graded_archives.archive,
    totals.problem_id,
    totals.budget,
    (select max(repeat) from repeats) as replays,
    case when graded_archives.is_graded then totals.strict_correct end as strict_correct,
    case when graded_archives.is_graded then totals.advisory_correct end as advisory_correct,
    case when graded_archives.is_graded then totals.advisory_correct - totals.strict_correct end as gained,
    case when graded_archives.is_graded then totals.strict_covered end as strict_covered,
    case when graded_archives.is_graded then totals.advisory_covered end as advisory_covered,
    totals.strict_slope,
    totals.strict_offset,
    totals.advisory_cost,
from totals
inner join graded_archives on totals.archive_id = graded_archives.archive_id

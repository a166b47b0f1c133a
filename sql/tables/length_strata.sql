-- length_strata: the paired accuracy change and extra cost in each archive's shorter and longer half of problems.
-- grain: archive, stratum, budget
with changes as (
    select
        halves.archive_id,
        halves.problem_id,
        halves.stratum,
        selection_scores.budget,
        any_value(selection_scores.replays) as replays,
        sum(case when rules.rule = 'advisory' then selection_scores.correct else -selection_scores.correct end) as gained,
        sum(case when rules.rule = 'advisory' then replay_scores.completion_cost else -replay_scores.completion_cost end)
            as extra_cost,
    from selection_scores
    inner join replay_scores
        on selection_scores.bank_id = replay_scores.bank_id
        and selection_scores.cap = replay_scores.cap
        and selection_scores.budget = replay_scores.budget
        and selection_scores.rule_id = replay_scores.rule_id
    inner join selectors on selection_scores.selector_id = selectors.selector_id
    inner join rules on selection_scores.rule_id = rules.rule_id
    inner join caps on selection_scores.cap = caps.cap
    inner join halves on selection_scores.bank_id = halves.bank_id
    where selectors.is_primary and caps.is_primary and rules.rule in ('strict', 'advisory')
    group by halves.archive_id, halves.problem_id, halves.stratum, selection_scores.budget
),
totals as (
    select
        archive_id,
        stratum,
        budget,
        count(*) as problems,
        list(problem_id order by problem_id) as problem_ids,
        list(replays::double order by problem_id) as replays,
        list(gained::double order by problem_id) as gained,
        list(extra_cost::double order by problem_id) as extra_cost,
    from changes
    group by archive_id, stratum, budget
),
drawn as (
    select
        totals.*,
        weights.replicate,
        list_select(weights.counts, totals.problem_ids) as counts,
    from totals
    cross join weights
),
replicates as (
    select
        archive_id,
        stratum,
        budget,
        problems,
        replicate,
        100 * list_dot_product(counts, gained) / list_dot_product(counts, replays) as delta,
        list_dot_product(counts, extra_cost) / list_dot_product(counts, replays) as extra_cost,
    from drawn
    where list_sum(counts) > 0
)
select
    archives.archive,
    replicates.stratum,
    replicates.budget,
    any_value(problems) filter (replicate = 0) as problems,
    any_value(delta) filter (replicate = 0) as delta,
    quantile_cont(delta, 0.025) filter (replicate > 0) as delta_low,
    quantile_cont(delta, 0.975) filter (replicate > 0) as delta_high,
    any_value(extra_cost) filter (replicate = 0) as extra_cost,
from replicates
inner join archives on replicates.archive_id = archives.archive_id
group by archives.archive, replicates.stratum, replicates.budget
order by archives.archive, replicates.stratum, replicates.budget

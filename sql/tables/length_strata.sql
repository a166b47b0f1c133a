-- length_strata: the paired accuracy change and extra cost in each archive's shorter and longer half of problems.
-- grain: archive, stratum, budget
with totals as (
    select
        problem_gains.archive,
        length_halves.stratum,
        problem_gains.budget,
        count(*) as problems,
        list(problem_gains.problem_id order by problem_gains.problem_id) as problem_ids,
        list(problem_gains.replays::double order by problem_gains.problem_id) as replays,
        count(problem_gains.gained) > 0 as is_graded,
        -- A list with nulls makes no product.
        list(coalesce(problem_gains.gained, 0)::double order by problem_gains.problem_id) as gained,
        list((advisory.completion_cost - strict.completion_cost)::double order by problem_gains.problem_id) as extra_cost,
    from problem_gains
    inner join length_halves on problem_gains.bank_id = length_halves.bank_id
    inner join problem_costs as strict
        on problem_gains.bank_id = strict.bank_id
        and problem_gains.budget = strict.budget
        and strict.rule = 'strict'
    inner join problem_costs as advisory
        on problem_gains.bank_id = advisory.bank_id
        and problem_gains.budget = advisory.budget
        and advisory.rule = 'advisory'
    where problem_gains.is_primary
    group by problem_gains.archive, length_halves.stratum, problem_gains.budget
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
        archive,
        stratum,
        budget,
        problems,
        replicate,
        case when is_graded then 100 * list_dot_product(counts, gained) / list_dot_product(counts, replays) end as delta,
        list_dot_product(counts, extra_cost) / list_dot_product(counts, replays) as extra_cost,
    from drawn
    where list_sum(counts) > 0
)
select
    archive,
    stratum,
    budget,
    any_value(problems) filter (replicate = 0) as problems,
    any_value(delta) filter (replicate = 0) as delta,
    quantile_cont(delta, 0.025) filter (replicate > 0) as delta_low,
    quantile_cont(delta, 0.975) filter (replicate > 0) as delta_high,
    any_value(extra_cost) filter (replicate = 0) as extra_cost,
from replicates
group by archive, stratum, budget
order by archive, stratum, budget

-- archive_pairs: what a rule costs and answers in two archives at the problems that both have; replicate 0 weighs every problem once, a replicate that draws none has no row. Correct answers are null without labels.
-- grain: archive, other, rule, budget, replicate
with totals as (
    select
        costs.archive,
        other_costs.archive as other,
        costs.rule,
        costs.budget,
        count(*) as problems,
        any_value(costs.replays) as replays,
        list(costs.problem_id order by costs.problem_id) as problem_ids,
        -- Lists of null make no product, and neither do their sums.
        list(coalesce(scores.correct, 0)::double order by costs.problem_id) as correct,
        list(coalesce(other_scores.correct, 0)::double order by costs.problem_id) as other_correct,
        count(scores.correct) > 0 as is_graded,
        count(other_scores.correct) > 0 as is_other_graded,
        list(costs.completion_cost::double order by costs.problem_id) as cost,
        list(other_costs.completion_cost::double order by costs.problem_id) as other_cost,
    from problem_costs as costs
    inner join problem_costs as other_costs
        on costs.problem_id = other_costs.problem_id
        and costs.rule = other_costs.rule
        and costs.budget = other_costs.budget
        and costs.archive < other_costs.archive
    inner join problem_scores as scores
        on costs.bank_id = scores.bank_id
        and costs.rule = scores.rule
        and costs.budget = scores.budget
        and scores.is_primary
    inner join problem_scores as other_scores
        on other_costs.bank_id = other_scores.bank_id
        and other_costs.rule = other_scores.rule
        and other_costs.budget = other_scores.budget
        and other_scores.is_primary
    group by costs.archive, other_costs.archive, costs.rule, costs.budget
),
drawn as (
    select
        totals.*,
        weights.replicate,
        list_select(weights.counts, totals.problem_ids) as counts,
    from totals
    cross join weights
)
select
    archive,
    other,
    rule,
    budget,
    replicate,
    problems,
    list_sum(counts) * replays as replays,
    case when is_graded then list_dot_product(counts, correct) end as correct,
    case when is_other_graded then list_dot_product(counts, other_correct) end as other_correct,
    list_dot_product(counts, cost) as cost,
    list_dot_product(counts, other_cost) as other_cost,
from drawn
where list_sum(counts) > 0

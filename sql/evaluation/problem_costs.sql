-- problem_costs: integer totals of an archive at one problem over its random orders at the primary
--     cap, whatever the selector.
-- grain: archive, competition, question_id, budget, rule
-- joins: as written, as in problem_scores.
with totals as (
    select
        coverage.bank_id,
        stops.budget,
        stops.rule_id,
        count(*) as replays,
        case
            when bool_and(coverage.is_graded) then count(*) filter (coverage.covered_from <= stops.returned)
        end as covered,
        sum(stops.launched)::bigint as launched,
        sum(stops.cost)::bigint as cost,
        sum(launched.cumulative_prompt)::bigint as prompt_tokens,
        sum(stops.cost - returned.cumulative_cost)::bigint as prefix_cost,
    from walked_attempts as returned
    inner join (
        walked_attempts as launched
        inner join (primary_stops as stops inner join coverage on stops.walk_id = coverage.walk_id)
            on launched.prefix_id = stops.launched_prefix_id
    )
        on returned.prefix_id = stops.returned_prefix_id
    where coverage.repeat > 0 and stops.walk_id between getvariable('first_walk') and getvariable('last_walk')
    group by coverage.bank_id, stops.budget, stops.rule_id
)
select
    archives.archive,
    problems.competition,
    problems.question_id,
    problems.problem_id,
    totals.bank_id,
    totals.budget,
    used_rules.rule,
    totals.replays,
    totals.covered,
    totals.launched,
    totals.cost,
    totals.prompt_tokens,
    totals.prefix_cost,
from totals
inner join used_rules on totals.rule_id = used_rules.rule_id
inner join banks on totals.bank_id = banks.bank_id
inner join archives on banks.archive_id = archives.archive_id
inner join problems on banks.problem_id = problems.problem_id

-- replicate_matches: in every replicate the largest whole strict budget that costs no more than an
--     advisory budget, and what both answer; where nothing is left to buy, the cost of the
--     costliest walk that is drawn.
-- grain: archive, advisory_budget, replicate
-- The strict cost of a budget is a straight line between two neighbouring costs of walks: the line is found, then the budget on it.
with targets as (
    select
        rule_totals.archive,
        rule_totals.budget as advisory_budget,
        problem_draws.replicate,
        sum(rule_totals.replays * problem_draws.draws::hugeint) as replays,
        sum(rule_totals.cost * problem_draws.draws::hugeint)::hugeint as advisory_cost,
        sum(rule_totals.correct * problem_draws.draws::hugeint) as advisory_correct,
    from rule_totals
    inner join problem_draws on rule_totals.problem_id = problem_draws.problem_id
    where rule_totals.rule = 'advisory' and problem_draws.draws > 0
    group by rule_totals.archive, rule_totals.budget, problem_draws.replicate
),
-- What is paid at a budget at which a walk ends, and how many walks go on from there.
ends as (
    select distinct
        matching_walks.archive,
        problem_draws.replicate,
        matching_walks.whole_cost,
        (sum(problem_draws.draws::hugeint * matching_walks.orders) over every - sum(problem_draws.draws::hugeint * matching_walks.orders) over below)::hugeint
            as still_open,
        (sum(problem_draws.draws::hugeint * matching_walks.orders * matching_walks.whole_cost) over below)::hugeint
            + still_open * matching_walks.whole_cost as paid,
        max(matching_walks.whole_cost) over every as costliest,
    from matching_walks
    inner join problem_draws on matching_walks.problem_id = problem_draws.problem_id
    where problem_draws.draws > 0
    window
        every as (partition by matching_walks.archive, problem_draws.replicate),
        below as (every order by matching_walks.whole_cost)
),
matches as (
    select
        targets.*,
        coalesce(ends.still_open = 0, false) as is_exhausted,
        case
            when is_exhausted then ends.costliest
            when ends.paid is null then targets.advisory_cost // targets.replays::hugeint
            else ends.whole_cost + (targets.advisory_cost - ends.paid) // ends.still_open
        end::bigint as strict_budget,
        case
            when is_exhausted then targets.advisory_cost
            when ends.paid is null then strict_budget * targets.replays::hugeint
            else ends.paid + (strict_budget - ends.whole_cost) * ends.still_open
        end as strict_cost,
    from targets
    asof left join ends
        on targets.archive = ends.archive
        and targets.replicate = ends.replicate
        and targets.advisory_cost >= ends.paid
)
select
    matches.archive,
    matches.advisory_budget,
    matches.replicate,
    any_value(matches.replays)::double as replays,
    any_value(matches.advisory_cost)::double as advisory_cost,
    any_value(matches.advisory_correct)::double as advisory_correct,
    any_value(matches.strict_budget) as strict_budget,
    any_value(matches.strict_cost)::double as strict_cost,
    any_value(matches.is_exhausted) as is_exhausted,
    case
        when any_value(matches.advisory_correct) is not null
        then coalesce(sum(matching_answers.correct_change * problem_draws.draws::hugeint), 0)
    end::double as strict_correct,
from matches
left join matching_answers
    on matches.archive = matching_answers.archive
    and matches.strict_budget >= matching_answers.budget
left join problem_draws
    on matching_answers.problem_id = problem_draws.problem_id
    and matches.replicate = problem_draws.replicate
group by matches.archive, matches.advisory_budget, matches.replicate

-- changed_answers: by how many of a problem's random orders the correct answers and abstentions of
--     a selector change once the budget reaches this one, at the primary cap.
-- grain: bank_id, rule, selector_id, budget
-- A selector's choice changes at a position, once a rule returns the attempt there.
with changed_picks as (
    select
        *,
        lag(candidate_id) over (partition by selector_id, walk_id order by from_position) as previous_id,
    from {{ picks | default('whole_picks') }}
),
changes as (
    select
        return_budgets.bank_id,
        return_budgets.rule,
        changed_picks.selector_id,
        return_budgets.budget,
        chosen.is_correct::integer - coalesce(previous.is_correct, false)::integer as correct_change,
        case when changed_picks.previous_id is null then -1 else 0 end as abstained_change,
    from changed_picks
    inner join return_budgets
        on changed_picks.walk_id = return_budgets.walk_id
        and changed_picks.from_position = return_budgets.position
    inner join candidate_grades as chosen on changed_picks.candidate_id = chosen.candidate_id
    left join candidate_grades as previous on changed_picks.previous_id = previous.candidate_id
    union all
    select
        walks.bank_id,
        known_rules.rule,
        used_selectors.selector_id,
        0 as budget,
        0 as correct_change,
        1 as abstained_change,
    from walks
    cross join used_selectors
    cross join known_rules
    where
        walks.repeat > 0{% if picks is defined %} and used_selectors.is_primary{% endif %}

        and walks.walk_id between coalesce(getvariable('first_walk'), 0)
        and coalesce(getvariable('last_walk'), 9223372036854775807)

)
select
    changes.bank_id,
    changes.rule,
    changes.selector_id,
    changes.budget,
    case when any_value(graded_archives.is_graded) then sum(changes.correct_change) end::bigint as correct_change,
    sum(changes.abstained_change)::bigint as abstained_change,
from changes
inner join banks on changes.bank_id = banks.bank_id
inner join graded_archives on banks.archive_id = graded_archives.archive_id
group by changes.bank_id, changes.rule, changes.selector_id, changes.budget
having
    (any_value(graded_archives.is_graded) and coalesce(sum(changes.correct_change), 0) <> 0)
    or sum(changes.abstained_change) <> 0

-- answer_changes: by how many of a problem's random orders the correct answers and abstentions of a selector change once the budget reaches this one, at the primary cap; a total at a budget is the sum of the changes up to it.
-- grain: archive, competition, question_id, rule, selector, budget
-- A selector's choice changes with a prefix: strict returns it from the cost at its end, advisory from one token more than the cost before its last attempt.
with moves as (
    select
        coverage.bank_id,
        prefix_selections.selector_id,
        unnest(['strict', 'advisory']) as rule,
        unnest([walked_attempts.cumulative_cost, walked_attempts.cumulative_cost - walked_attempts.cost + 1]) as budget,
        case
            when coverage.is_graded
            then coalesce(chosen.is_correct, false)::integer - coalesce(previous.is_correct, false)::integer
        end as correct_change,
        (prefix_selections.selected_prefix_id is null)::integer
            - (before.selected_prefix_id is null)::integer as abstained_change,
    from prefix_selections
    inner join prefix_selections as before
        on prefix_selections.selector_id = before.selector_id
        and prefix_selections.prefix_id = before.prefix_id + 1
        and prefix_selections.selected_prefix_id is distinct from before.selected_prefix_id
    inner join walked_attempts on prefix_selections.prefix_id = walked_attempts.prefix_id
    inner join coverage on walked_attempts.walk_id = coverage.walk_id
    left join prefix_grades as chosen on prefix_selections.selected_prefix_id = chosen.prefix_id
    left join prefix_grades as previous on before.selected_prefix_id = previous.prefix_id
    where
        coverage.repeat > 0
        and prefix_selections.position between 1 and (select cap from caps where is_primary)
{% if is_primary is defined %}
        and prefix_selections.selector_id = (select selector_id from used_selectors where is_primary)
{% endif %}
),
changes as (
    from moves
    union all
    select
        coverage.bank_id,
        used_selectors.selector_id,
        unnest(['strict', 'advisory']) as rule,
        0 as budget,
        case when coverage.is_graded then 0 end as correct_change,
        1 as abstained_change,
    from coverage
    cross join used_selectors
    where coverage.repeat > 0{% if is_primary is defined %} and used_selectors.is_primary{% endif %}

),
totals as (
    select
        bank_id,
        rule,
        selector_id,
        budget,
        sum(correct_change)::bigint as correct_change,
        sum(abstained_change)::bigint as abstained_change,
    from changes
    group by bank_id, rule, selector_id, budget
)
select
    archives.archive,
    problems.competition,
    problems.question_id,
    totals.rule,
    used_selectors.selector,
    totals.budget,
    totals.correct_change,
    totals.abstained_change,
    totals.bank_id,
from totals
inner join used_selectors on totals.selector_id = used_selectors.selector_id
inner join banks on totals.bank_id = banks.bank_id
inner join archives on banks.archive_id = archives.archive_id
inner join problems on banks.problem_id = problems.problem_id
where coalesce(totals.correct_change, 0) <> 0 or totals.abstained_change <> 0

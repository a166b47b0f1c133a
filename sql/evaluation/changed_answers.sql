-- changed_answers: by how many of a problem's random orders the correct answers and abstentions of
--     a selector change once the budget reaches this one, at the primary cap.
-- grain: bank_id, rule, selector_id, budget
-- A selector's choice changes with a prefix, once a rule returns its last attempt.
with changes as (
    select
        return_budgets.bank_id,
        return_budgets.rule,
        prefix_selections.selector_id,
        return_budgets.budget,
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
    inner join return_budgets on prefix_selections.prefix_id = return_budgets.prefix_id
    inner join coverage on return_budgets.walk_id = coverage.walk_id
    left join prefix_grades as chosen on prefix_selections.selected_prefix_id = chosen.prefix_id
    left join prefix_grades as previous on before.selected_prefix_id = previous.prefix_id
    where
        prefix_selections.position > 0
{% if is_primary is defined %}
        and prefix_selections.selector_id = (select selector_id from used_selectors where is_primary)
{% endif %}
    union all
    select
        coverage.bank_id,
        known_rules.rule,
        used_selectors.selector_id,
        0 as budget,
        case when coverage.is_graded then 0 end as correct_change,
        1 as abstained_change,
    from coverage
    cross join used_selectors
    cross join known_rules
    where coverage.repeat > 0{% if is_primary is defined %} and used_selectors.is_primary{% endif %}

)
select
    bank_id,
    rule,
    selector_id,
    budget,
    sum(correct_change)::bigint as correct_change,
    sum(abstained_change)::bigint as abstained_change,
from changes
group by bank_id, rule, selector_id, budget
having coalesce(sum(correct_change), 0) <> 0 or sum(abstained_change) <> 0

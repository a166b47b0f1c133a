-- problem_scores: integer totals of an archive at one problem and of a selector over the random
--     orders at the primary cap; correct answers are null without labels.
-- grain: archive, competition, question_id, budget, rule, selector
-- joins: as written, for DuckDB expects a hundred times as many stops and hashes all selections in their place.
with totals as (
    select
        coverage.bank_id,
        stops.budget,
        stops.rule_id,
        prefix_selections.selector_id,
        bool_and(coverage.is_graded) as is_graded,
        count(*) as replays,
        count(*) filter (prefix_selections.selected_prefix_id is null) as abstained,
        count(*) filter (prefix_grades.is_correct) as correct,
        count(*) filter (prefix_grades.is_repaired_correct) as repaired_correct,
    from prefix_selections
    inner join (primary_stops as stops inner join coverage on stops.walk_id = coverage.walk_id)
        on prefix_selections.prefix_id = stops.returned_prefix_id
    left join prefix_grades on prefix_selections.selected_prefix_id = prefix_grades.prefix_id
    where coverage.repeat > 0 and stops.walk_id between getvariable('first_walk') and getvariable('last_walk')
    group by coverage.bank_id, stops.budget, stops.rule_id, prefix_selections.selector_id
)
select
    archives.archive,
    problems.competition,
    problems.question_id,
    problems.problem_id,
    totals.bank_id,
    totals.budget,
    used_rules.rule,
    used_selectors.selector,
    used_selectors.is_primary,
    totals.replays,
    totals.abstained,
    case when totals.is_graded then totals.correct end as correct,
    case when totals.is_graded then totals.repaired_correct end as repaired_correct,
from totals
inner join used_rules on totals.rule_id = used_rules.rule_id
inner join used_selectors on totals.selector_id = used_selectors.selector_id
inner join banks on totals.bank_id = banks.bank_id
inner join archives on banks.archive_id = archives.archive_id
inner join problems on banks.problem_id = problems.problem_id

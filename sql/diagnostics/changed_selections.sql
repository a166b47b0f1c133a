-- changed_selections: the replays of random orders at the primary cap from which a selector picks
--     another attempt under advisory than under strict, and its answers: what the selector votes
--     on.
-- grain: selector, archive, competition, question_id, repeat, budget
-- Rules that return the same prefix leave no choice between them, so those replays go before anything is looked up.
with differing as (
    select * from paired_stops where strict_prefix_id <> advisory_prefix_id
),
picked as (
    select
        differing.walk_id,
        differing.budget,
        strict.selector_id,
        strict.selected_prefix_id as strict_prefix_id,
        advisory.selected_prefix_id as advisory_prefix_id,
    from differing
    inner join prefix_selections as strict on differing.strict_prefix_id = strict.prefix_id
    inner join prefix_selections as advisory
        on differing.advisory_prefix_id = advisory.prefix_id
        and strict.selector_id = advisory.selector_id
    where strict.selected_prefix_id is distinct from advisory.selected_prefix_id
),
graded as (
    select
        picked.selector_id,
        picked.budget,
        coverage.bank_id,
        coverage.repeat,
        strict.slot as strict_slot,
        advisory.slot as advisory_slot,
        case when coverage.is_graded then coalesce(strict.is_correct, false) end as is_strict_correct,
        case when coverage.is_graded then coalesce(advisory.is_correct, false) end as is_advisory_correct,
        case when coverage.is_graded then coalesce(strict.is_repaired_correct, false) end as is_strict_repaired,
        case when coverage.is_graded then coalesce(advisory.is_repaired_correct, false) end as is_advisory_repaired,
    from picked
    inner join coverage on picked.walk_id = coverage.walk_id
    left join prefix_grades as strict on picked.strict_prefix_id = strict.prefix_id
    left join prefix_grades as advisory on picked.advisory_prefix_id = advisory.prefix_id
    where coverage.repeat > 0
)
select
    archives.archive,
    problems.competition,
    problems.question_id,
    used_selectors.selector,
    graded.repeat,
    graded.budget,
    strict.seed as strict_seed,
    advisory.seed as advisory_seed,
    case when used_selectors.votes_on = 'archive_answer' then strict.archive_answer else strict.answer end as strict_answer,
    case when used_selectors.votes_on = 'archive_answer' then advisory.archive_answer else advisory.answer end as advisory_answer,
    graded.is_strict_correct,
    graded.is_advisory_correct,
    graded.is_strict_repaired,
    graded.is_advisory_repaired,
    graded.selector_id,
    banks.archive_id,
    graded.bank_id,
from graded
inner join used_selectors on graded.selector_id = used_selectors.selector_id
inner join banks on graded.bank_id = banks.bank_id
inner join archives on banks.archive_id = archives.archive_id
inner join problems on banks.problem_id = problems.problem_id
left join candidates as strict
    on graded.bank_id = strict.bank_id
    and graded.strict_slot = strict.slot
left join candidates as advisory
    on graded.bank_id = advisory.bank_id
    and graded.advisory_slot = advisory.slot

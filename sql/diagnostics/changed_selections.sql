-- changed_selections: the replays of random orders at the primary cap from which a selector picks
--     another attempt under advisory than under strict, and its answers: what the selector votes
--     on.
-- grain: selector, archive, competition, question_id, repeat, budget
-- Rules that return the same attempts leave no choice between them, so those replays go before anything is looked up.
with differing as (
    select * from paired_stops where strict_returned <> advisory_returned and repeat > 0
),
picked as (
    select
        differing.walk_id,
        differing.bank_id,
        differing.repeat,
        differing.budget,
        used_selectors.selector_id,
        strict.candidate_id as strict_id,
        advisory.candidate_id as advisory_id,
    from differing
    cross join used_selectors
    left join picks as strict
        on differing.walk_id = strict.walk_id
        and differing.strict_returned >= strict.from_position
        and differing.strict_returned < strict.until_position
        and used_selectors.selector_id = strict.selector_id
    left join picks as advisory
        on differing.walk_id = advisory.walk_id
        and differing.advisory_returned >= advisory.from_position
        and differing.advisory_returned < advisory.until_position
        and used_selectors.selector_id = advisory.selector_id
    where strict.candidate_id is distinct from advisory.candidate_id
),
graded as (
    select
        picked.selector_id,
        picked.budget,
        picked.bank_id,
        picked.repeat,
        picked.strict_id,
        picked.advisory_id,
        case when coverage.is_graded then coalesce(strict.is_correct, false) end as is_strict_correct,
        case when coverage.is_graded then coalesce(advisory.is_correct, false) end as is_advisory_correct,
        case when coverage.is_graded then coalesce(strict.is_repaired_correct, false) end as is_strict_repaired,
        case when coverage.is_graded then coalesce(advisory.is_repaired_correct, false) end as is_advisory_repaired,
    from picked
    inner join coverage on picked.walk_id = coverage.walk_id
    left join candidate_grades as strict on picked.strict_id = strict.candidate_id
    left join candidate_grades as advisory on picked.advisory_id = advisory.candidate_id
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
    coalesce(problems.name, problems.question_id::varchar) as problem,
from graded
inner join used_selectors on graded.selector_id = used_selectors.selector_id
inner join banks on graded.bank_id = banks.bank_id
inner join archives on banks.archive_id = archives.archive_id
inner join problems on banks.problem_id = problems.problem_id
left join candidates as strict on graded.strict_id = strict.candidate_id
left join candidates as advisory on graded.advisory_id = advisory.candidate_id

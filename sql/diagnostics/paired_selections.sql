-- paired_selections: what a selector returns under both rules from the same random order at the primary cap, and its answers: what the selector votes on.
-- grain: selector, archive, competition, question_id, repeat, budget
with chosen as (
    select
        primary_selections.*,
        used_selectors.selector,
        candidates.seed,
        case when used_selectors.votes_on = 'archive_answer' then candidates.archive_answer else candidates.answer end
            as answer,
    from primary_selections
    inner join used_selectors on primary_selections.selector_id = used_selectors.selector_id
    left join candidates
        on primary_selections.bank_id = candidates.bank_id
        and primary_selections.slot = candidates.slot
    where primary_selections.repeat > 0
)
select
    archives.archive,
    problems.competition,
    problems.question_id,
    strict.selector,
    strict.repeat,
    strict.budget,
    strict.seed as strict_seed,
    advisory.seed as advisory_seed,
    strict.answer as strict_answer,
    advisory.answer as advisory_answer,
    strict.is_correct as is_strict_correct,
    advisory.is_correct as is_advisory_correct,
    strict.is_repaired_correct as is_strict_repaired,
    advisory.is_repaired_correct as is_advisory_repaired,
    strict.bank_id,
from chosen as strict
inner join chosen as advisory
    on strict.selector_id = advisory.selector_id
    and strict.walk_id = advisory.walk_id
    and strict.budget = advisory.budget
inner join banks on strict.bank_id = banks.bank_id
inner join archives on banks.archive_id = archives.archive_id
inner join problems on banks.problem_id = problems.problem_id
where strict.rule = 'strict' and advisory.rule = 'advisory'

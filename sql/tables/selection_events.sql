-- selection_events: every replay whose answer the advisory rule fixes or harms, by source labels.
-- grain: archive, budget, selector, competition, question_id, repeat
select
    archives.archive,
    paired_picks.budget,
    selectors.selector,
    problems.competition,
    problems.question_id,
    paired_picks.repeat,
    strict_candidate.seed as strict_seed,
    case when selectors.votes_on = 'archive_answer' then strict_candidate.archive_answer else strict_candidate.answer end
        as strict_answer,
    advisory_candidate.seed as advisory_seed,
    case
        when selectors.votes_on = 'archive_answer' then advisory_candidate.archive_answer else advisory_candidate.answer
    end as advisory_answer,
    is_strict_correct as strict_correct,
    is_advisory_correct as advisory_correct,
    is_strict_repaired as strict_repaired,
    is_advisory_repaired as advisory_repaired,
from paired_picks
inner join selectors on paired_picks.selector_id = selectors.selector_id
inner join banks on paired_picks.bank_id = banks.bank_id
inner join archives on banks.archive_id = archives.archive_id
inner join problems on banks.problem_id = problems.problem_id
left join candidates as strict_candidate
    on paired_picks.bank_id = strict_candidate.bank_id
    and paired_picks.strict_slot = strict_candidate.slot
left join candidates as advisory_candidate
    on paired_picks.bank_id = advisory_candidate.bank_id
    and paired_picks.advisory_slot = advisory_candidate.slot
where is_strict_correct <> is_advisory_correct
order by
    archives.archive,
    paired_picks.budget,
    selectors.selector,
    problems.competition,
    problems.question_id,
    paired_picks.repeat

-- prefix_events: what the interrupted prefix of a boundary event shows; examined is null until it has been tokenized, false where it has no text or its count is off.
-- grain: archive, competition, question_id, repeat, budget
with written as (
    select
        archive,
        competition,
        question_id,
        seed,
    from texts
    where text is not null
),
counts as (
    select token_counts.*
    from token_counts
    inner join meta on token_counts.encoding = meta.value
    where meta.key = 'encoding'
)
select
    archives.archive,
    problems.competition,
    problems.question_id,
    boundary_events.repeat,
    boundary_events.budget,
    candidates.seed,
    boundary_events.remaining,
    case
        when written.seed is null or not counts.reconciled then false
        when prefix_cuts.remaining is not null then true
    end as examined,
    prefix_cuts.any_box,
    prefix_cuts.last_box,
    prefix_cuts.answer,
from boundary_events
inner join candidates
    on boundary_events.bank_id = candidates.bank_id
    and boundary_events.slot = candidates.slot
inner join banks on boundary_events.bank_id = banks.bank_id
inner join archives on banks.archive_id = archives.archive_id
inner join problems on banks.problem_id = problems.problem_id
left join written
    on archives.archive = written.archive
    and problems.competition = written.competition
    and problems.question_id = written.question_id
    and candidates.seed = written.seed
left join counts
    on archives.archive = counts.archive
    and problems.competition = counts.competition
    and problems.question_id = counts.question_id
    and candidates.seed = counts.seed
left join prefix_cuts
    on counts.archive = prefix_cuts.archive
    and counts.competition = prefix_cuts.competition
    and counts.question_id = prefix_cuts.question_id
    and counts.seed = prefix_cuts.seed
    and counts.encoding = prefix_cuts.encoding
    and boundary_events.remaining = prefix_cuts.remaining

-- prefix_events: what the interrupted prefix of a boundary event shows; examined is null until it
--     has been tokenized, false where it has no text or its count is off.
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
    archive,
    competition,
    question_id,
    boundary_events.repeat,
    boundary_events.budget,
    seed,
    boundary_events.remaining,
    case
        when written.seed is null or not counts.reconciled then false
        when prefix_cuts.remaining is not null then true
    end as examined,
    prefix_cuts.any_box,
    prefix_cuts.last_box,
    prefix_cuts.answer,
from (
{% include 'diagnostics/boundary_events.sql' %}

) as boundary_events
inner join candidates
    on boundary_events.bank_id = candidates.bank_id
    and boundary_events.slot = candidates.slot
inner join banks on boundary_events.bank_id = banks.bank_id
inner join archives on banks.archive_id = archives.archive_id
inner join problems on banks.problem_id = problems.problem_id
left join written using (archive, competition, question_id, seed)
left join counts using (archive, competition, question_id, seed)
left join prefix_cuts using (archive, competition, question_id, seed, encoding, remaining)

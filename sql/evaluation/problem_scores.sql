-- problem_scores: integer totals of an archive at one problem and of a selector over the random orders at the primary cap; correct answers are null without labels.
-- grain: archive, competition, question_id, budget, rule, selector
with totals as (
    select
        replay_selections.bank_id,
        replay_selections.budget,
        replay_selections.rule,
        replay_selections.selector_id,
        count(*) as replays,
        count(*) filter (replay_selections.slot is null) as abstained,
        sum(replay_selections.is_correct::integer)::bigint as correct,
        sum(replay_selections.is_repaired_correct::integer)::bigint as repaired_correct,
    from replay_selections
    inner join caps on replay_selections.cap = caps.cap
    semi join portion on replay_selections.walk_id = portion.walk_id
    where caps.is_primary and replay_selections.repeat > 0
    group by
        replay_selections.bank_id,
        replay_selections.budget,
        replay_selections.rule,
        replay_selections.selector_id
)
select
    archives.archive,
    problems.competition,
    problems.question_id,
    problems.problem_id,
    totals.bank_id,
    totals.budget,
    totals.rule,
    used_selectors.selector,
    used_selectors.is_primary,
    totals.replays,
    totals.abstained,
    totals.correct,
    totals.repaired_correct,
from totals
inner join used_selectors on totals.selector_id = used_selectors.selector_id
inner join banks on totals.bank_id = banks.bank_id
inner join archives on banks.archive_id = archives.archive_id
inner join problems on banks.problem_id = problems.problem_id

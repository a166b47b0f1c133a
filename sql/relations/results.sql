-- results: one replay of a random order at the primary cap with a selector's answer: what it cost and whether it is correct; the relation to begin with.
-- grain: archive, competition, question_id, repeat, budget, rule, selector
select
    archive,
    competition,
    question_id,
    repeat,
    budget,
    rule,
    selections.selector,
    replays.cost,
    replays.prompt_tokens,
    replays.launched,
    replays.returned,
    replays.eligible,
    replays.covered,
    selections.answer,
    selections.correct,
from replays
inner join selections using (archive, competition, question_id, repeat, cap, budget, rule)
inner join caps using (cap)
where caps.is_primary and repeat > 0

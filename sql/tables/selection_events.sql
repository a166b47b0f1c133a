-- selection_events: every replay whose answer the advisory rule fixes or harms, by source labels.
-- grain: archive, budget, selector, competition, question_id, repeat
select
    archive,
    budget,
    selector,
    competition,
    question_id,
    repeat,
    strict_seed,
    strict_answer,
    advisory_seed,
    advisory_answer,
    is_strict_correct as strict_correct,
    is_advisory_correct as advisory_correct,
    is_strict_repaired as strict_repaired,
    is_advisory_repaired as advisory_repaired,
    problem,
from changed_selections
where is_strict_correct <> is_advisory_correct
order by archive, budget, selector, competition, question_id, repeat

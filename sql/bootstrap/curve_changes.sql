-- curve_changes: by how many more random orders of a problem the advisory rule answers correctly
--     than at the budget before, where that is any; every problem has a row at the first budget of
--     the archive's curve. Null without labels.
-- grain: archive, budget, problem_id
select
    archive,
    budget,
    problem_id,
    replays,
    gained,
    budget = min(budget) over (partition by archive) as is_first,
from problem_curves
qualify is_first or gained <> 0

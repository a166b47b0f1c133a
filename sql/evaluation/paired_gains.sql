-- paired_gains: how many more random orders of a problem the advisory rule answers correctly than
--     the strict one at the same budget.
-- grain: archive, competition, question_id, budget, selector
select
    strict.archive,
    strict.competition,
    strict.question_id,
    strict.problem_id,
    strict.bank_id,
    strict.budget,
    strict.selector,
    strict.is_primary,
    strict.replays,
    strict.correct as strict_correct,
    advisory.correct as advisory_correct,
    advisory.correct - strict.correct as gained,
    advisory.repaired_correct - strict.repaired_correct as repaired_gained,
from {{ scores | default('problem_scores') }} as strict
inner join {{ scores | default('problem_scores') }} as advisory using (bank_id, budget, selector)
where strict.rule = 'strict' and advisory.rule = 'advisory'

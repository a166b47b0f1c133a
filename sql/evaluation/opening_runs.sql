-- opening_runs: from how many tokens of a cut attempt on a terminal finds another answer, or the same
--     one with another label; answer_id is null where nothing was answered.
-- grain: terminal, candidate_id, opens_at
-- kept: on demand
select
    terminal,
    candidate_id,
    opens_at,
    answer_id,
    archive_answer_id,
    is_correct,
from (
    select
        openings.terminal,
        openings.candidate_id,
        openings.opens_at,
        keyed_checkpoints.answer_id,
        keyed_checkpoints.archive_answer_id,
        coalesce(admitted_grades.is_correct, false) as is_correct,
        (coalesce(keyed_checkpoints.answer_id, 0), coalesce(keyed_checkpoints.archive_answer_id, 0), coalesce(admitted_grades.is_correct, false)) as found,
    from openings
    inner join keyed_checkpoints
        on openings.candidate_id = keyed_checkpoints.candidate_id
        and openings.tokens = keyed_checkpoints.tokens
        and case when openings.terminal = 'standing' then 'written' else 'asked' end = keyed_checkpoints.kind
    inner join admitted_grades
        on keyed_checkpoints.candidate_id = admitted_grades.candidate_id
        and keyed_checkpoints.tokens = admitted_grades.tokens
        and keyed_checkpoints.kind = admitted_grades.kind
)
qualify found is distinct from lag(found) over (partition by terminal, candidate_id order by opens_at)

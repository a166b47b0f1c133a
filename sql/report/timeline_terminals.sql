-- timeline_terminals: what each terminal of the run takes from the attempt that strict cuts in one order at
--     a replayed budget and the primary cap: the checkpoint with an answer, and what is selected then.
-- grain: terminal
with timeline_attempts as (
{% include 'report/timeline_attempts.sql' %}
)
select
    terminal,
    replays.admitted_at,
    timeline_attempts.position,
    timeline_attempts.start + replays.admitted_at as place,
    checkpoints.answer,
    checkpoint_grades.correct,
    selections.abstained,
    selections.answer as selected_answer,
    selections.correct as selected_correct,
from terminal_replays as replays
inner join used_terminals using (terminal)
inner join timeline_attempts on replays.returned + 1 = timeline_attempts.position
inner join terminal_selections as selections using (terminal, archive, competition, question_id, repeat, budget)
inner join used_selectors on selections.selector = used_selectors.selector
left join checkpoints
    on replays.archive = checkpoints.archive
    and replays.competition = checkpoints.competition
    and replays.question_id = checkpoints.question_id
    and timeline_attempts.seed = checkpoints.seed
    and replays.admitted_at = checkpoints.tokens
    and if(terminal = 'standing', 'written', 'asked') = checkpoints.kind
left join checkpoint_grades
    on checkpoints.archive = checkpoint_grades.archive
    and checkpoints.competition = checkpoint_grades.competition
    and checkpoints.question_id = checkpoint_grades.question_id
    and checkpoints.seed = checkpoint_grades.seed
    and checkpoints.tokens = checkpoint_grades.tokens
    and checkpoints.kind = checkpoint_grades.kind
where
    replays.archive = $archive
    and replays.competition = $competition
    and replays.question_id = $question_id
    and replays.repeat = $repeat
    and replays.budget = $budget
    and terminal <> 'none'
    and timeline_attempts.start < $budget
    and used_selectors.is_primary
    and $cap = (select cap from caps where is_primary)
order by used_terminals.terminal_id

-- admitted_selections: exploratory: strict's majority answer, and the one when the interrupted
--     prefix's last complete box is one more vote after the returned attempts; a tie goes to the
--     answer seen first.
-- grain: walk_id, budget
with strict as (
    select
        stops.walk_id,
        coverage.bank_id,
        stops.budget,
        stops.returned,
        chosen.position as selected_position,
        chosen.slot,
        candidates.answer,
    from stops
    inner join caps on stops.cap = caps.cap
    inner join coverage on stops.walk_id = coverage.walk_id
    inner join prefix_selections on stops.returned_prefix_id = prefix_selections.prefix_id
    inner join used_selectors on prefix_selections.selector_id = used_selectors.selector_id
    left join walked_attempts as chosen on prefix_selections.selected_prefix_id = chosen.prefix_id
    left join candidates
        on chosen.bank_id = candidates.bank_id
        and chosen.slot = candidates.slot
    where stops.rule = 'strict' and caps.is_primary and used_selectors.selector = 'majority' and coverage.repeat > 0
),
admitted as (
    select
        walks.walk_id,
        prefix_events.budget,
        prefix_events.answer,
    from prefix_events
    inner join archives using (archive)
    inner join problems using (competition, question_id)
    inner join banks using (archive_id, problem_id)
    inner join walks using (bank_id, repeat)
),
votes as (
    select
        strict.walk_id,
        strict.budget,
        count(*) filter (candidates.answer = strict.answer) as strict_votes,
        count(*) filter (candidates.answer = admitted.answer) + 1 as prefix_votes,
        min(walked_attempts.position) filter (candidates.answer = admitted.answer) as prefix_first_position,
    from strict
    inner join admitted
        on strict.walk_id = admitted.walk_id
        and strict.budget = admitted.budget
    inner join walked_attempts
        on strict.walk_id = walked_attempts.walk_id
        and strict.returned >= walked_attempts.position
    inner join candidates
        on walked_attempts.bank_id = candidates.bank_id
        and walked_attempts.slot = candidates.slot
    where admitted.answer is not null and candidates.is_eligible
    group by strict.walk_id, strict.budget
)
select
    strict.walk_id,
    strict.bank_id,
    strict.budget,
    strict.slot as strict_slot,
    strict.answer as strict_answer,
    admitted.walk_id is not null as is_boundary_event,
    admitted.answer as admitted_answer,
    case
        when admitted.answer is null then strict.answer
        when strict.answer is null then admitted.answer
        when votes.prefix_votes > votes.strict_votes then admitted.answer
        when votes.prefix_votes = votes.strict_votes and votes.prefix_first_position < strict.selected_position
        then admitted.answer
        else strict.answer
    end as prefix_answer,
from strict
left join admitted
    on strict.walk_id = admitted.walk_id
    and strict.budget = admitted.budget
left join votes
    on strict.walk_id = votes.walk_id
    and strict.budget = votes.budget

-- prefix_selections: exploratory: strict's majority answer, and the one when the interrupted prefix's last complete box is one more vote after the returned attempts; a tie goes to the answer seen first.
-- grain: bank_id, repeat, budget
with strict as (
    select
        stops.bank_id,
        stops.repeat,
        stops.budget,
        stops.returned,
        choices.selected_position,
        chosen.slot,
        candidates.answer,
    from stops
    inner join rules on stops.rule_id = rules.rule_id and rules.rule = 'strict'
    inner join caps on stops.cap = caps.cap and caps.is_primary
    inner join choices
        on stops.bank_id = choices.bank_id
        and stops.repeat = choices.repeat
        and stops.returned = choices.position
    inner join selectors on choices.selector_id = selectors.selector_id and selectors.selector = 'majority'
    left join steps as chosen
        on choices.bank_id = chosen.bank_id
        and choices.repeat = chosen.repeat
        and choices.selected_position = chosen.position
    left join candidates
        on chosen.bank_id = candidates.bank_id
        and chosen.slot = candidates.slot
    where stops.repeat > 0
),
admitted as (
    select
        banks.bank_id,
        prefix_events.repeat,
        prefix_events.budget,
        prefix_events.answer,
    from prefix_events
    inner join archives on prefix_events.archive = archives.archive
    inner join problems
        on prefix_events.competition = problems.competition
        and prefix_events.question_id = problems.question_id
    inner join banks
        on archives.archive_id = banks.archive_id
        and problems.problem_id = banks.problem_id
),
votes as (
    select
        strict.bank_id,
        strict.repeat,
        strict.budget,
        count(*) filter (candidates.answer = strict.answer) as strict_votes,
        count(*) filter (candidates.answer = admitted.answer) + 1 as prefix_votes,
        min(steps.position) filter (candidates.answer = admitted.answer) as prefix_first_position,
    from strict
    inner join admitted
        on strict.bank_id = admitted.bank_id
        and strict.repeat = admitted.repeat
        and strict.budget = admitted.budget
    inner join steps
        on strict.bank_id = steps.bank_id
        and strict.repeat = steps.repeat
        and strict.returned >= steps.position
    inner join candidates
        on steps.bank_id = candidates.bank_id
        and steps.slot = candidates.slot
    where admitted.answer is not null and candidates.is_eligible
    group by strict.bank_id, strict.repeat, strict.budget
)
select
    strict.bank_id,
    strict.repeat,
    strict.budget,
    strict.slot as strict_slot,
    strict.answer as strict_answer,
    admitted.bank_id is not null as is_boundary_event,
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
    on strict.bank_id = admitted.bank_id
    and strict.repeat = admitted.repeat
    and strict.budget = admitted.budget
left join votes
    on strict.bank_id = votes.bank_id
    and strict.repeat = votes.repeat
    and strict.budget = votes.budget

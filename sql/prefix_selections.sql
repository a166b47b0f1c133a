-- prefix_selections: exploratory: strict's majority answer, and the one when the interrupted prefix's last complete box is one more vote after the returned attempts; a tie goes to the answer seen first.
-- grain: walk_id, budget
with strict as (
    select
        stops.walk_id,
        walks.bank_id,
        stops.budget,
        stops.returned,
        choices.selected_position,
        choices.slot,
        candidates.answer,
    from stops
    inner join rules on stops.rule_id = rules.rule_id and rules.rule = 'strict'
    inner join caps on stops.cap = caps.cap and caps.is_primary
    inner join walks on stops.walk_id = walks.walk_id
    inner join choices on stops.walk_id + stops.returned = choices.walk_id + choices.position
    inner join selectors on choices.selector_id = selectors.selector_id and selectors.selector = 'majority'
    left join candidates
        on walks.bank_id = candidates.bank_id
        and choices.slot = candidates.slot
    where walks.repeat > 0
),
admitted as (
    select
        walks.walk_id,
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
    inner join walks
        on banks.bank_id = walks.bank_id
        and prefix_events.repeat = walks.repeat
),
votes as (
    select
        strict.walk_id,
        strict.budget,
        count(*) filter (candidates.answer = strict.answer) as strict_votes,
        count(*) filter (candidates.answer = admitted.answer) + 1 as prefix_votes,
        min(steps.position) filter (candidates.answer = admitted.answer) as prefix_first_position,
    from strict
    inner join admitted
        on strict.walk_id = admitted.walk_id
        and strict.budget = admitted.budget
    inner join steps
        on strict.walk_id = steps.walk_id
        and strict.returned >= steps.position
    inner join candidates
        on steps.bank_id = candidates.bank_id
        and steps.slot = candidates.slot
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

-- tallies: what a policy may know of a prefix: its attempts, its votes and, where the primary
--     selector weighs them, their weight, how long its last answer has gone unopposed, and what it
--     has cost.
-- grain: archive, competition, question_id, repeat, position
select
    walks.archive,
    walks.competition,
    walks.question_id,
    walks.repeat,
    prefix_votes.position,
    prefix_votes.leader_votes,
    prefix_votes.runner_up_votes,
    prefix_votes.answers,
    prefix_votes.run_length,
    prefix_votes.cumulative_cost,
    walks.bank_size,
    case when used_selectors.weighs is not null then coalesce(prefix_weights.leader_weight, 0) end as leader_weight,
    case when used_selectors.weighs is not null then coalesce(prefix_weights.runner_up_weight, 0) end as runner_up_weight,
    case when used_selectors.weighs is not null then coalesce(prefix_weights.weight, 0) end as weight,
    prefix_votes.walk_id,
from prefix_votes
inner join walks on prefix_votes.walk_id = walks.walk_id
inner join used_selectors on used_selectors.is_primary
left join (
{% include 'walks/prefix_weights.sql' %}

) as prefix_weights
    on prefix_votes.walk_id = prefix_weights.walk_id
    and prefix_votes.position = prefix_weights.position
where prefix_votes.position <= (select max(cap) from caps)

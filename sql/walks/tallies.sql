-- tallies: what a policy may know of a prefix: its attempts, its votes, how long its last answer has gone unopposed, and what it has cost.
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
    prefix_votes.walk_id,
from prefix_votes
inner join walks on prefix_votes.walk_id = walks.walk_id
where prefix_votes.position between 1 and (select max(cap) from caps)

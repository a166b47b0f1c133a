-- one_tally: tallies of the attempts that a controller records; it knows no weights.
-- grain: walk_id, position
select
    walks.archive,
    walks.competition,
    walks.question_id,
    walks.repeat,
    votes.position,
    votes.leader_votes,
    votes.runner_up_votes,
    votes.answers,
    votes.run_length,
    votes.cumulative_cost,
    walks.bank_size,
    null::double as leader_weight,
    null::double as runner_up_weight,
    null::double as weight,
    votes.walk_id,
from ({% include 'walks/prefix_votes.sql' %}) as votes
inner join walks on votes.walk_id = walks.walk_id

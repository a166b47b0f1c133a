-- adaptive_consistency: stops once the leader would stay ahead of the runner-up with a probability
--     of 0.95 (Aggarwal et al. 2023, beta rule).
-- grain: walk_id, cap
select
    tallies.walk_id,
    caps.cap,
    min(tallies.position) as stop_position,
from tallies
inner join caps on tallies.position <= caps.cap
inner join binomial_tails
    on tallies.leader_votes + tallies.runner_up_votes + 1 = binomial_tails.trials
    and tallies.leader_votes = binomial_tails.successes
where binomial_tails.probability >= 0.95
group by tallies.walk_id, caps.cap

-- answer_agreement: how often both rules answer alike, without any label, and how large the leading
--     answer's share of the votes is.
-- grain: archive, budget
with answers as (
    select
        prefix_votes.walk_id,
        prefix_votes.position,
        case when used_selectors.votes_on = 'archive_answer' then chosen.archive_answer_id else chosen.answer_id end as vote,
        picks.candidate_id is not null as is_answered,
        100 * prefix_votes.leader_votes / nullif(prefix_votes.eligible_count, 0) as share,
    from prefix_votes
    inner join used_selectors on used_selectors.is_primary
    left join primary_picks as picks
        on prefix_votes.walk_id = picks.walk_id
        and prefix_votes.position >= picks.from_position
        and prefix_votes.position < picks.until_position
    left join candidates as chosen on picks.candidate_id = chosen.candidate_id
),
-- Replays alike in all that is counted here become one row.
counted as (
    select
        banks.archive_id,
        stops.budget,
        not coalesce(strict.is_answered, false) as strict_abstains,
        not coalesce(advisory.is_answered, false) as advisory_abstains,
        strict.vote is not distinct from advisory.vote as is_same,
        strict.share as strict_share,
        advisory.share as advisory_share,
        count(*) as replays,
    from paired_stops as stops
    inner join banks on stops.bank_id = banks.bank_id
    left join answers as strict
        on stops.walk_id = strict.walk_id
        and stops.strict_returned = strict.position
    left join answers as advisory
        on stops.walk_id = advisory.walk_id
        and stops.advisory_returned = advisory.position
    where stops.repeat > 0
    group by all
)
select
    any_value(archives.archive) as archive,
    counted.budget,
    100 * coalesce(sum(replays) filter (not strict_abstains and not advisory_abstains and is_same), 0) / sum(replays)
        as same_answer,
    100 * coalesce(sum(replays) filter (not strict_abstains and not advisory_abstains and not is_same), 0) / sum(replays)
        as different_answer,
    100 * coalesce(sum(replays) filter (strict_abstains and not advisory_abstains), 0) / sum(replays) as strict_abstains,
    100 * coalesce(sum(replays) filter (strict_abstains and advisory_abstains), 0) / sum(replays) as both_abstain,
    -- Fractions are added one by one and in one order: the sum is the same on any number of threads.
    list_avg(flatten(
        list(repeat([strict_share], replays) order by strict_share) filter (not strict_abstains)
    )) as strict_vote_share,
    list_avg(flatten(
        list(repeat([advisory_share], replays) order by advisory_share) filter (not advisory_abstains)
    )) as advisory_vote_share,
from counted
inner join archives on counted.archive_id = archives.archive_id
group by counted.archive_id, counted.budget
order by archive, budget
